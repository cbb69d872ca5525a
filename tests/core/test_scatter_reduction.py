# SPDX-License-Identifier: MIT
"""What is written to one place, reduced: values, errors."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, KernelDataError
from autocalc.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.core

NUMPY = {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "amax": np.max,
    "amin": np.min,
}


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return ac.tensor(values, requires_grad=True)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("reduce", NUMPY)
def test_values(reduce, own):
    x, y = leaf(4, 3).detach(), leaf(9, 3, seed=1).detach()
    index = np.random.default_rng(2).integers(0, 4, (9, 3))
    found = ac.scatter_reduce(x, 0, ac.tensor(index), y, reduce, include_self=own)
    for p in range(4):
        for j in range(3):
            written = list(y.numpy()[index[:, j] == p, j])
            terms = written + [x.numpy()[p, j]] * (own or not written)
            assert found[p, j].item() == pytest.approx(NUMPY[reduce](terms))


@pytest.mark.parametrize("zeros", [1, 2, 3])
def test_the_gradient_of_products_with_zeros(zeros):
    y = leaf(6)
    with ac.no_grad():
        y[:zeros] = 0

    def function(x, y):
        return x.scatter_reduce(0, ac.tensor([0, 0, 0, 1, 0, 1]), y, "prod")

    assert gradcheck(function, [leaf(2, seed=1), y])
    assert gradgradcheck(function, [leaf(2, seed=1), y])


def test_equal_values_share_the_gradient_and_what_is_left_out_has_none():
    x = ac.tensor([3.0, 1.0], requires_grad=True)
    y = ac.tensor([3.0, 3.0, 2.0], requires_grad=True)
    index = ac.tensor([0, 0, 0])
    x.scatter_reduce(0, index, y, "amax").sum().backward()
    assert x.grad.tolist() == pytest.approx([1 / 3, 1])
    assert y.grad.tolist() == pytest.approx([1 / 3, 1 / 3, 0])
    x.grad = y.grad = None
    x.scatter_reduce(0, index, y, "amax", include_self=False).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0, 1], [0.5, 0.5, 0])


def test_limits_of_integers():
    for dtype in (ac.int8, ac.uint8, ac.int64):
        limits = ac.iinfo(dtype)
        y = ac.tensor([limits.min, limits.max], dtype=dtype)
        for reduce, end in (("amax", limits.max), ("amin", limits.min)):
            found = y.scatter_reduce(
                0, ac.tensor([0, 0]), y, reduce, include_self=False
            )
            assert found.tolist() == [end, limits.max]
            assert found.dtype is dtype


def test_writes_in_place_are_recorded():
    w = leaf(3)
    x = w * 1
    assert x.scatter_reduce_(0, ac.tensor([0, 0]), w[:2] * 2, "sum") is x
    x.index_reduce_(0, ac.tensor([2]), w[:1], "prod")
    x.sum().backward()
    a, _, c = w.tolist()
    assert w.grad.tolist() == pytest.approx([3 + c, 3, a])


def test_errors():
    x, index = ac.ones(3), ac.tensor([0, 1])
    with pytest.raises(ArgumentError, match=r"scatter_reduce: `reduce`='max'"):
        x.scatter_reduce(0, index, ac.ones(2), "max")
    with pytest.raises(ArgumentError, match=r"index_reduce: `reduce`='sum'"):
        x.index_reduce(0, index, ac.ones(2), "sum")
    with pytest.raises(DTypeError, match="scatter_reduce: the tensors are float32"):
        x.scatter_reduce(0, index, ac.ones(2).int(), "sum")
    with pytest.raises(KernelDataError, match=r"scatter_amax: .*7"):
        x.scatter_reduce(0, ac.tensor([0, 7]), ac.ones(2), "amax")
