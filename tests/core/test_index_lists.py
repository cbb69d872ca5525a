# SPDX-License-Identifier: MIT
"""Lists as indices: of positions, or read as a tuple; held to NumPy's tuples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autocalc as ac

pytestmark = pytest.mark.core

#: What a list may hold, and what NumPy is given in a tuple.
PARTS = {
    "list": ([0, 1], [0, 1]),
    "nested list": ([[0, 1], [1, 0]], [[0, 1], [1, 0]]),
    "tuple": ((1, 0), [1, 0]),
    "range": (range(2), [0, 1]),
    "tensor": (ac.tensor([1, 1]), [1, 1]),
    "0-d tensor": (ac.tensor(1), 1),
    "int32": (ac.tensor([0, 1], dtype=ac.int32), [0, 1]),
    "matrix": (ac.tensor([[0], [1]]), [[0], [1]]),
    "mask": (ac.tensor([True, True]), [True, True]),
    "list of tensors": ([ac.tensor(0), ac.tensor([1])], [0, 1]),
    "array": (np.array([1, 0]), [1, 0]),
    "slice": (slice(1), slice(1)),
    "None": (None, None),
    "Ellipsis": (..., ...),
    "empty": ([], np.zeros(0, int)),
    "int": (1, 1),
}
#: What makes a list a tuple.
MARKS = [name for name in PARTS if name != "int"]
CHOICES = [
    names
    for n in (1, 2, 3)
    for names in itertools.product(PARTS, repeat=n)
    if set(names) & set(MARKS) and names.count("Ellipsis") < 2
    and (n < 3 or names[0] in ("int", "list", "slice", "None"))
]  # fmt: skip


def part(x, index):
    try:
        return x[index].tolist()
    except (IndexError, ValueError):
        return None


def written(x, index):
    x = x.clone() if isinstance(x, ac.Tensor) else x.copy()
    x[index] = -1
    return x.tolist()


@pytest.mark.parametrize("first", PARTS)
def test_a_list_that_holds_more_than_integers_is_a_tuple(first):
    held = np.arange(8.0).reshape(2, 2, 2)
    x, count = ac.tensor(held), 0
    for names in (names for names in CHOICES if names[0] == first):
        index = [PARTS[name][0] for name in names]
        theirs = tuple(PARTS[name][1] for name in names)
        found = part(x, index)
        assert found == part(x, tuple(index)), names
        if not {"int", "0-d tensor"} & set(names):  # which NumPy takes for arrays
            assert found == part(held, theirs), names
        if found is not None:
            count += 1
            assert written(x, index) == written(held, theirs), names
    assert count


def test_lists_of_the_class_and_what_they_pick():
    x = ac.arange(12.0).reshape(3, 4)
    assert x[[[0, 1], [1, 2]]].tolist() == [1, 6]
    assert x[[[0, 1]]].tolist() == x[[0, 1]].tolist()
    assert x[[ac.tensor([0, 1]), ac.tensor([1, 2])]].tolist() == [1, 6]
    assert x[[ac.tensor(0), ac.tensor(1)]].item() == 1
    assert x[[slice(0, 1), 0]].tolist() == [0]
    assert x[([[0, 1], [1, 2]],)].shape == (2, 2, 4)  # in a tuple: one index
    assert x[0, [1, 2]].tolist() == [1, 2]


def test_lists_of_integers_and_long_lists_are_positions():
    x = ac.arange(6.0).reshape(2, 3)
    assert x[[0, 1, 1]].shape == (3, 3)
    assert x[[True, False]].tolist() == [[0, 1, 2]]
    assert x[[[0]] * 32].shape == (32, 1, 3)  # as in PyTorch, and NumPy before 1.23


def test_gradients_reach_what_a_list_of_lists_picks():
    x = ac.zeros(3, 4, requires_grad=True)
    x[[[0, 1, 1], [1, 2, 2]]].sum().backward()
    assert x.grad.nonzero().tolist() == [[0, 1], [1, 2]]
    assert x.grad[1, 2] == 2
    y = x.clone()
    y[[[0, 1], [1, 2]]] = ac.tensor([5.0, 7.0])
    assert y[0, 1] == 5
    assert y.sum() == 12
