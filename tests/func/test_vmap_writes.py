# SPDX-License-Identifier: MIT
"""Writes, indices and values read in Python inside of `vmap`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.func.cases import numbers

import autocalc as ac
from autocalc import vmap
from autocalc.errors import VmapError

pytestmark = pytest.mark.core


def loop(function, *args):
    """Return the results of one call for each example, stacked."""
    return ac.stack([function(*one) for one in zip(*args, strict=True)])


def alike(found, expected, tolerance=1e-12):
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    a, b = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- writes in place -----------------------------------------------------------------


def test_in_place_forms_of_functions():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    alike(vmap(lambda a, b: a.clone().add_(b))(x, y), x + y)
    alike(vmap(lambda a, b: a.clone().mul_(b).clamp_(min=0))(x, y), (x * y).clamp(0))
    alike(vmap(lambda a: ac.zeros_like(a).copy_(a))(x), x)
    alike(vmap(lambda a: a.clone().fill_(2.0))(x), ac.full_like(x, 2.0))
    alike(vmap(lambda a: a.clone().fill_(a[1]))(x), x[:, 1:].expand(3, 2))


def test_a_write_into_an_argument_reaches_the_tensor_outside():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    expected = x + y
    vmap(lambda a, b: a.add_(b))(x, y)
    alike(x, expected)


def test_a_write_into_an_argument_changes_its_version():
    x = numbers(3, 2).requires_grad_()
    y = x * 1
    z = y.exp() * y
    vmap(lambda a: a.add_(1))(y)
    with pytest.raises(RuntimeError, match=r"changed|modified|written"):
        z.sum().backward()


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("number", lambda a, v: a.__setitem__(0, v[0])),
        ("slice", lambda a, v: a.__setitem__(slice(1, None), v[0])),
        ("row", lambda a, v: a.__setitem__(1, v)),
        ("ellipsis", lambda a, v: a.__setitem__((..., 0), v[0])),
        ("list", lambda a, v: a.__setitem__([0, 2], v)),
        ("mask", lambda a, v: a.__setitem__(ac.tensor([True, False, True]), v)),
        ("shared value", lambda a, v: a.__setitem__(0, 7.0)),
        ("index_fill_", lambda a, v: a.index_fill_(0, ac.tensor([1]), 2.0)),
        ("view", lambda a, v: a.view(-1).__setitem__(4, v[1])),
        ("transposed", lambda a, v: a.T.__setitem__(0, v[0])),
        ("masked_fill_", lambda a, v: a.masked_fill_(a > 0, 0.0)),
        ("index_add_", lambda a, v: a.index_add_(0, ac.tensor([1]), v[None])),
    ],
)
def test_writes_at_an_index(name, write):
    x, v = numbers(4, 3, 2), numbers(4, 2)

    def function(a, b):
        a = a.clone()
        write(a, b)
        return a

    alike(vmap(function)(x, v), loop(function, x, v))


def test_writes_at_a_number_of_each_example():
    x, v, i = numbers(3, 4, 2), numbers(3, 2), ac.tensor([2, 0, 3])

    def function(a, v, i):
        a = a.clone()
        a[i] = v
        a[i, 0] += 1
        return a

    alike(vmap(function)(x, v, i), loop(function, x, v, i))


def test_memory_that_is_made_like_an_example_can_be_written():
    x = numbers(3, 2)

    def function(a):
        out = ac.zeros_like(a)
        for i in range(2):
            out[i] = a[i] * (i + 1)
        more = a.new_zeros(3)
        more[1:] = a
        return ac.cat([out, more])

    alike(vmap(function)(x), loop(function, x))


def test_writes_are_recorded():
    x = numbers(3, 2).requires_grad_()

    def function(a):
        out = ac.zeros_like(a)
        out[0] = a[1] ** 2
        out[1] = a[0] * out[0].clone()
        return out

    (g,) = ac.autograd.grad(vmap(function)(x).sum(), x)
    (expected,) = ac.autograd.grad(loop(function, x).sum(), x)
    alike(g, expected)


SHARED_WRITES = {
    "add_": lambda out, a: out.add_(a),
    "copy_": lambda out, a: out.copy_(a),
    "setitem": lambda out, a: out.__setitem__(0, a[0]),
    "slice": lambda out, a: out[:1].add_(a[:1]),
    "out": lambda out, a: ac.add(a, a, out=out),
}


@pytest.mark.parametrize("name", SHARED_WRITES)
def test_a_write_into_a_shared_tensor_is_refused(name):
    out = ac.zeros(2, dtype=ac.float64)
    with pytest.raises(VmapError, match=r"writes different values for each example "
                       r"into a tensor of shape .* that all examples share.*inplace "
                       r"arithmetic is not possible.*zeros_like"):  # fmt: skip
        vmap(lambda a: SHARED_WRITES[name](out, a) or a)(numbers(3, 2))
    assert out.tolist() == [0, 0]


def test_a_shared_value_may_be_written_into_a_shared_tensor():
    out = ac.zeros(2)
    vmap(lambda a: out.add_(1.0) * a)(ac.ones(3, 2))
    assert out.tolist() == [1, 1]


def test_a_tensor_of_the_outer_level_is_shared_by_the_inner_one():
    with pytest.raises(VmapError, match="that all examples share"):
        vmap(lambda a: vmap(a.add_)(numbers(4, 2)))(numbers(3, 2))


# ---- indices -------------------------------------------------------------------------

INDEXED = {
    "number": lambda a, i: a[i[0]],
    "numbers": lambda a, i: a[i[0], i[1]],
    "number and slice": lambda a, i: a[1:, i[0]],
    "number and row": lambda a, i: a[i[0], i],
    "number, new dimension": lambda a, i: a[i[0], None, ::2],
    "row of numbers": lambda a, i: a[i],
    "two": lambda a, i: a[i, i],
    "after a slice": lambda a, i: a[:, i],
    "before a slice": lambda a, i: a[i, 1:],
    "shared and own": lambda a, i: a[ac.tensor([0, 1]), i],
    "select": lambda a, i: a.index_select(1, i),
    "gather": lambda a, i: a.gather(1, i[:, None].expand(2, 3)),
    "take": lambda a, i: a.take(i),
    "take_along_dim": lambda a, i: a.take_along_dim(i[:, None], 0),
    "of its own": lambda a, i: a[a.argmax(0)],
    "negative": lambda a, i: a[i - 2],
    "where": lambda a, i: ac.where(i[:, None] > 0, a[:2], 0.0),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_of_each_example(name):
    a, i = numbers(4, 3, 3), ac.tensor([[0, 1], [2, 0], [1, 1], [2, 2]])
    function = INDEXED[name]
    alike(vmap(function)(a, i), loop(function, a, i))
    alike(vmap(function, (None, 0))(a[0], i), loop(lambda j: function(a[0], j), i))
    alike(vmap(function, (0, None))(a, i[1]), loop(lambda b: function(b, i[1]), a))


@pytest.mark.parametrize(
    "write",
    [
        lambda a, i, v: a.index_put((i,), v),
        lambda a, i, v: a.index_put((i,), v, accumulate=True),
        lambda a, i, v: a.index_add(0, i, v),
        lambda a, i, v: a.index_copy(0, i, v),
        lambda a, i, v: a.scatter(0, i[:, None].expand(2, 3), v),
        lambda a, i, v: a.scatter_add(0, i[:, None].expand(2, 3), v),
    ],
    ids=["put", "accumulate", "add", "copy", "scatter", "scatter_add"],
)
def test_writes_at_indices_of_each_example(write):
    a, v = numbers(4, 3, 3), numbers(4, 2, 3)
    i = ac.tensor([[0, 1], [2, 0], [1, 0], [2, 1]])
    alike(vmap(write)(a, i, v), loop(write, a, i, v))


# ---- values in Python ----------------------------------------------------------------

READS = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: 1.0 if x.sum() > 0 else 0.0,
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.detach().numpy(),
    "equal": lambda x: ac.equal(x, x + 1),
}


@pytest.mark.parametrize("name", READS)
def test_values_that_differ_between_examples_cannot_be_read(name):
    with pytest.raises(VmapError, match=r"the values of a tensor of shape .* are "
                       r"needed by Python, but they differ between the 3 examples.*"
                       r"data-dependent control flow. Use where"):  # fmt: skip
        vmap(lambda x: READS[name](x) and x)(numbers(3, 2))


def test_values_of_shared_tensors_can_be_read():
    y = ac.tensor([2.0])
    assert vmap(lambda x: x * y.item() if y > 1 else x)(ac.ones(3)).tolist() == [2] * 3


def test_a_batched_tensor_prints_all_examples():
    seen = []
    x = ac.arange(6.0).reshape(3, 2)
    vmap(lambda a: seen.append(repr(a * 1)) or a)(x)
    assert "".join(seen[0].split()).endswith("value=tensor([[0.,1.],[2.,3.],[4.,5.]]))")
    vmap(vmap(lambda a: seen.append(repr(a.long())) or a))(x)
    assert "".join(seen[1].split()).endswith("value=tensor([[0,1],[2,3],[4,5]])))")


def test_attributes_are_those_of_one_example():
    seen = []
    x = numbers(2, 3, 4)
    vmap(lambda a: seen.append((a.dtype, a.device, a.stride(), a.is_contiguous())) or a,
         in_dims=1)(x)  # fmt: skip
    assert seen == [(ac.float64, x.device, (12, 1), False)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.masked_select(x > 0),
        lambda x: x.unique(),
    ],
    ids=["nonzero", "mask", "masked_select", "unique"],
)
def test_results_whose_shape_depends_on_values_are_refused(function):
    with pytest.raises(VmapError, match=r"We do not support batching operators that "
                       r"can output dynamic shape. The shape.*depends on the values|"
                       r"results whose shape depends on values"):  # fmt: skip
        vmap(function)(numbers(3, 4))
