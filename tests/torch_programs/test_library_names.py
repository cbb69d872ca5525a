# SPDX-License-Identifier: MIT
"""Names, arguments and orders of them that libraries for PyTorch use."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from typing import NamedTuple

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, GradError
from autocalc.utils import _pytree

pytestmark = pytest.mark.core


def test_kinds_of_nodes_are_in_the_table():
    tree = [deque([1], 3), defaultdict(list, {"a": 2}), Both(3, (4,))]
    leaves, spec = _pytree.tree_flatten(tree)
    again = _pytree.tree_unflatten([10 * x for x in leaves], spec)
    assert leaves == [1, 2, 3, 4]
    assert again == [deque([10]), {"a": 20}, Both(30, (40,))]
    assert (again[0].maxlen, again[1].default_factory) == (3, list)
    for kind in (list, tuple, dict, OrderedDict, defaultdict, deque):
        assert _pytree._get_node_type(kind()) in _pytree.SUPPORTED_NODES
    assert _pytree._get_node_type(Both(1, 2)) in _pytree.SUPPORTED_NODES
    assert isinstance(_pytree.tree_structure(5), _pytree.LeafSpec)
    assert _pytree.LeafSpec().is_leaf()


class Both(NamedTuple):
    a: object
    b: object


@pytest.mark.filterwarnings("ignore:This overload of")
def test_pytorchs_older_order_of_arguments():
    x, y = ac.tensor([1.0, 2.0]), ac.tensor([10.0, 20.0])
    assert ac.add(x, 2, y).tolist() == x.add(y, alpha=2).tolist()
    assert ac.sub(x, 2, y).tolist() == x.sub(y, alpha=2).tolist()
    assert x.clone().add_(2, y).tolist() == x.add(y, alpha=2).tolist()
    assert x.clone().sub_(2, y).tolist() == x.sub(y, alpha=2).tolist()
    for name in ("addcmul", "addcdiv"):
        wanted = getattr(x, name)(x, y, value=2).tolist()
        assert getattr(x, name)(2, x, y).tolist() == wanted
        assert getattr(x.clone(), f"{name}_")(2, x, y).tolist() == wanted


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 2, 4)])
@pytest.mark.parametrize("some", [True, False])
def test_older_factors(shape, some):
    x = ac.randn(*shape, dtype=ac.float64)
    u, s, v = x.svd(some)
    k = s.shape[-1]
    product = (u[..., :k] * s.unsqueeze(-2)) @ v[..., :k].mT
    np.testing.assert_allclose(product, x, atol=1e-12)
    q, r = ac.qr(x, some)
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    u, s, v = ac.svd(x, compute_uv=False)
    assert not u.any()
    assert v.shape[-2:] == (shape[-1], shape[-1])
    square = x @ x.mT + ac.eye(shape[-2], dtype=ac.float64)
    np.testing.assert_allclose(
        ac.cholesky(square, upper=True), ac.linalg.cholesky(square).mT, atol=1e-12
    )


def test_a_tensor_is_an_array_where_nothing_is_recorded():
    w = ac.ones(2, requires_grad=True)
    with ac.no_grad():
        assert np.asarray(w.view(-1)).tolist() == [1, 1]
    with pytest.raises(GradError, match=r"Use tensor\.detach\(\)\.numpy\(\)"):
        w.numpy()


@pytest.mark.parametrize(
    "make",
    [
        *(["zeros", "ones", "empty", "rand", "randn"]),
        *(["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"]),
    ],
)
def test_factories_take_a_layout(make):
    given = ac.ones(2, 3) if make.endswith("like") else (2, 3)
    function = getattr(ac, make)
    made = function(given, layout=ac.strided, pin_memory=False)
    assert made.shape == (2, 3)
    with pytest.raises(
        ArgumentError, match=f"{make}: `layout` is 5, but this function makes"
    ):
        function(given, layout=5)


def test_a_range_takes_a_layout():
    assert ac.arange(3, layout=ac.strided).tolist() == [0, 1, 2]
    assert ac.ones(2).new_full((1,), 3, layout=ac.strided).tolist() == [3]
    assert ac.tensor([1.0], pin_memory=True).tolist() == [1]


def test_whether_inference_mode_is_on():
    @ac.inference_mode()
    def ask():
        return ac.is_inference_mode_enabled()

    assert ask()
    assert not ac.is_inference_mode_enabled()
    with ac.inference_mode():
        with ac.inference_mode(False):
            assert not ac.is_inference_mode_enabled()
        assert ac.is_inference_mode_enabled()


def test_randint_like_by_its_end():
    assert ac.randint_like(ac.ones(50), high=2).max() == 1
    with pytest.raises(ArgumentError, match="randint_like: `high` is missing"):
        ac.randint_like(ac.ones(2))
