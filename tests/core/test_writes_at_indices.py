# SPDX-License-Identifier: MIT
"""Writes at indices go into the tensor's own memory, and give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import KernelDataError

#: index of a (4, 5, 6) array, shape of the values
PLACES = {
    "a list": ([2, 0, 2], (3, 5, 6)),
    "one value": ([3, 1], ()),
    "negative": (np.array([-1, 0]), (1, 5, 6)),
    "two neighbours": ((np.array([[0, 1]]), np.array([[4], [-5]])), (2, 2, 6)),
    "two apart": ((np.array([0, 1]), slice(None), np.array([5, 0])), (2, 5)),
    "after a slice": ((slice(1, 3), np.array([4, 0])), (2, 2, 6)),
    "last": ((Ellipsis, np.array([1, 1, 5])), (4, 5, 3)),
    "a mask": (np.arange(20).reshape(4, 5) % 3 == 0, (7, 6)),
    "a mask and one value": (np.arange(4) > 1, ()),
    "a mask inside": ((slice(None), np.arange(5) > 2), (2, 6)),
    "nothing": ([], (0, 5, 6)),
}


def tensors(index):
    """Return the index with tensors in place of arrays."""
    if isinstance(index, tuple):
        return tuple(tensors(one) for one in index)
    return ac.tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("name", PLACES)
def test_assignment(name, dtype):
    index, shape = PLACES[name]
    rng = np.random.default_rng(1)
    wanted = rng.integers(0, 2, (4, 5, 6)).astype(dtype)
    values = (1 - rng.integers(0, 2, shape)).astype(dtype)
    x = ac.tensor(wanted)
    place = x.data_ptr()
    x[tensors(index)] = ac.tensor(values)
    wanted[index if len(index) else np.zeros(0, np.int64)] = values
    np.testing.assert_array_equal(x.numpy(), wanted)
    assert x.data_ptr() == place


def test_values_and_indices_may_be_parts_of_the_tensor():
    x = ac.arange(6)
    x[[3, 4, 5]] = x[:3]
    x[x[:3]] = x[1:4]
    assert x.tolist() == [1, 2, 0, 0, 1, 2]
    x.index_copy_(0, x[:3], x[3:])
    assert x.tolist() == [2, 0, 1, 0, 1, 2]
    x.masked_fill_(x == 0, x[0])
    assert x.tolist() == [2, 2, 1, 2, 1, 2]


@pytest.mark.parametrize("turned", [False, True])
def test_methods_in_place(turned):
    rng = np.random.default_rng(2)
    base = ac.tensor(rng.normal(size=(3, 4)))
    source, index = ac.tensor(rng.normal(size=(3, 4))), ac.tensor([2, 0, 2])
    wide = ac.tensor([[0, 3, 3, 1], [2, 2, 0, 0], [1, 1, 1, 1]])
    calls = {
        "index_copy": (0, index, source),
        "index_add": (0, index, source),
        "scatter": (1, wide, source),
        "scatter_add": (1, wide, source),
        "masked_fill": (source > 0, 7.0),
    }
    for name, args in calls.items():
        x = base.t().contiguous().t() if turned else base.clone()
        wanted, before = getattr(x, name)(*args), x._cell().count
        assert getattr(x, name + "_")(*args) is x
        assert ac.equal(x, wanted), name
        assert x._cell().count > before
    part = base.clone()
    part.scatter_(1, wide[:, :2], source)
    assert ac.equal(part, base.scatter(1, wide[:, :2], source))


def test_recorded_writes_keep_their_gradients():
    w = ac.ones(4, requires_grad=True)
    v = ac.full((2,), 3.0, requires_grad=True)
    x = w * 2
    x[[1, 3]] = v
    x.masked_fill_(ac.tensor([True, False, False, False]), 0.0)
    (x * x).sum().backward()
    assert (w.grad.tolist(), v.grad.tolist()) == ([0, 0, 8, 0], [6, 6])


def test_what_was_saved_is_guarded():
    x = ac.ones(3)
    y = x * ac.ones(3, requires_grad=True)
    x[[0]] = 5.0
    with pytest.raises(ac.errors.GradError, match="changed"):
        y.sum().backward()


def test_an_index_out_of_range_writes_nothing():
    x = ac.zeros(3, 2)
    x[[0, 1], [1, 0]] = 1.0
    far = ac.tensor([0]), ac.tensor([2])
    with pytest.raises(KernelDataError, match=r"`index\[1\]` holds 2 at element 0"):
        x[far] = 1.0
    with pytest.raises(KernelDataError, match="`index` holds 3 at element 1"):
        x.index_copy_(0, ac.tensor([0, 3]), ac.ones(2, 2))
    assert x.tolist() == [[0, 1], [1, 0], [0, 0]]
