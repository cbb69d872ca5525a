# SPDX-License-Identifier: MIT
"""`Size`: a tuple that counts elements."""

from __future__ import annotations

import copy
import pickle

import pytest

import autocalc as ac
from autocalc._tensor.size import SIZES
from autocalc.errors import DTypeError

pytestmark = pytest.mark.core


def test_the_shape_of_a_tensor_is_a_size():
    x = ac.zeros(2, 3, 4)
    for shape in (x.shape, x.size(), ac.Size([2, 3, 4]), ac.Size((2, 3, 4))):
        assert type(shape) is ac.Size
        assert isinstance(shape, tuple)
        assert shape == (2, 3, 4)
        assert hash(shape) == hash((2, 3, 4))
        assert shape.numel() == 24
        assert repr(shape) == str(shape) == "autocalc.Size([2, 3, 4])"
        assert f"{shape}" == "(2, 3, 4)"
    assert ac.ones(()).shape.numel() == 1
    assert ac.ones(3, 0).shape.numel() == 0
    assert repr(ac.ones(()).shape) == "autocalc.Size([])"
    a, *rest = x.shape
    assert (a, rest) == (2, [3, 4])


def test_parts_sums_and_multiples_are_sizes():
    shape = ac.zeros(2, 3, 4).shape
    for made, expected in (
        (shape[1:], (3, 4)),
        (shape[::-1], (4, 3, 2)),
        (shape + (5,), (2, 3, 4, 5)),  # noqa: RUF005  it is what is tested
        ((5,) + shape, (5, 2, 3, 4)),  # noqa: RUF005
        (shape + shape[:1], (2, 3, 4, 2)),
        (shape[:2] * 2, (2, 3, 2, 3)),
        (2 * shape[:1], (2, 2)),
    ):
        assert type(made) is ac.Size
        assert made == expected
    assert shape[-1] == 4
    assert type(shape[0]) is int
    with pytest.raises(TypeError, match="unsupported operand"):
        shape + [1]  # noqa: RUF005
    with pytest.raises(TypeError, match="can only concatenate list"):
        [1] + shape  # noqa: RUF005
    with pytest.raises(IndexError, match="out of range"):
        shape[3]


def test_copies_and_uses():
    shape = ac.zeros(2, 3).shape
    for made in (copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert type(made) is ac.Size
        assert made == (2, 3)
    assert ac.ones(shape).reshape(shape[::-1]).view(shape).shape == shape
    assert ac.randn(shape + (4,)).expand(shape + (4,)).shape.numel() == 24  # noqa: RUF005
    assert ac.Size(ac.tensor([1, 2])) == (1, 2)
    assert ac.Size() == ()


@pytest.mark.parametrize("wrong", [["a"], [1.5], None, 5, [[1]]])
def test_sizes_are_integers(wrong):
    with pytest.raises(DTypeError, match=r"Size: .* was given; it must be a sequence"):
        ac.Size(wrong)


def test_sizes_seen_before_are_kept_up_to_a_number(monkeypatch):
    monkeypatch.setattr(type(SIZES), "_most", 3)
    SIZES.clear()
    for n in range(9):
        assert ac.zeros(n, 1).shape == (n, 1)
        assert 1 <= len(SIZES) <= 3
    assert ac.zeros(7).shape is ac.ones(7).shape


@pytest.mark.parametrize("size", [(2, 3), (4,), (), (0, 2)])
def test_a_size_makes_a_tensor_of_that_size(size):
    shape = ac.empty(size).shape
    for make in (ac.Tensor, ac.FloatTensor, ac.LongTensor, ac.ones(1).new):
        assert make(shape).shape == size
    assert ac.Tensor([2, 3]).tolist() == ac.Tensor((2, 3)).tolist() == [2.0, 3.0]
