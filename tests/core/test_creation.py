# SPDX-License-Identifier: MIT
"""Tensors from data, of constants, at random."""

from __future__ import annotations

import math  # noqa: F401  the table of errors uses it

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc._dispatch.selection.choice import FILLING
from autocalc.errors import AutocalcWarning, ShapeError
from autocalc.testing import assert_close


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1.5, "float32", ()),
        (2, "int64", ()),
        (True, "bool", ()),
        ([], "float32", (0,)),
        ([[1, 2], [3, 4]], "int64", (2, 2)),
        ([1, 2.5], "float32", (2,)),
        ((True, 2), "int64", (2,)),
        (np.float64(1.5), "float64", ()),
        (np.ones((2, 1), np.int16), "int16", (2, 1)),
        (np.ones(3, ">f8"), "float64", (3,)),
        (np.arange(4)[::-1], "int64", (4,)),
        (range(3), "int64", (3,)),
        ([np.ones(2), np.zeros(2)], "float64", (2, 2)),
        ([np.float64(1.0)], "float64", (1,)),
    ],
)
def test_tensor_infers_dtype_and_shape(data, dtype, shape):
    x = ac.tensor(data)
    assert (x.dtype.name, x.shape) == (dtype, shape)
    assert (
        x.tolist()
        == np.asarray(list(data) if isinstance(data, range) else data).tolist()
    )
    assert x.is_contiguous()
    assert x._array.dtype.isnative


def test_tensor_copies():
    a = np.zeros(2, np.float32)
    x = ac.tensor(a)
    a[0] = 7
    assert x.tolist() == [0.0, 0.0]
    y = ac.tensor(x)
    x.fill_(3)
    assert y.tolist() == [0.0, 0.0]


def test_tensor_of_tensors():
    assert ac.tensor([ac.tensor(1.0), 2.0]).tolist() == [1.0, 2.0]
    assert ac.tensor([ac.tensor([1.0]), ac.tensor([2.0])]).shape == (2,)
    with pytest.raises(
        ShapeError, match=r"tensor: a list contains a tensor of shape \(2,\), but"
    ):
        ac.tensor([ac.ones(2), ac.zeros(2)])


def test_options():
    x = ac.tensor([1, 2], dtype=ac.float64, requires_grad=True)
    assert x.requires_grad
    assert x.is_leaf
    assert x.dtype is ac.float64
    assert ac.tensor([1], device="cpu").device == "cpu"


test_errors = refusals(
    r"""
    ac.tensor([[1], [1, 2]]) -> ShapeError: tensor: the nested lists
    ac.tensor('abc') -> DTypeError: of type str, is
    ac.tensor([1j], dtype=ac.float32) -> DTypeError: do not fit into float32
    ac.tensor([None]) -> DTypeError: of type NoneType, is
    ac.tensor(['a'], dtype=ac.float32) -> DTypeError: of type str, is
    ac.tensor([1], requires_grad=True) -> DTypeError: requires_grad: Only Tensors of
    ac.zeros(2, -1) -> ShapeError: zeros: the shape \(2, -1\) has a negative
    ac.ones(2, device='cuda') -> ArgumentError: 'cuda' is not available
    ac.arange(0, 3, 0) -> ArgumentError: arange: unsupported range: from 0 to 3
    ac.rand(2, dtype=ac.int64) -> DTypeError: float64, not int64; use randint
    ac.randint(3, 3, (2,)) -> ArgumentError: got from=3 >= to=3; both must be
    ac.arange(0, 3, -1) -> ArgumentError: arange: `end` cannot be reached:
    ac.arange(float('nan')) -> ArgumentError: arange: unsupported range: from 0 to nan
    ac.zeros(2.0) -> DTypeError: sizes .2.0,. are not all int
    ac.full((2,), 'a') -> DTypeError: `fill_value` is 'a', a str
    ac.linspace(0, 1, -1) -> ShapeError: linspace: .* negative
    ac.tensor([300], dtype=ac.int8) -> ArgumentError: 300 does not fit
    ac.tensor([math.nan], dtype=ac.int64) -> ArgumentError: the number nan does not fit
        into int64
    ac.ones(9, out=ac.ones(4)[:3]) -> ShapeError: `out` has shape \(3,\)
    ac.randint(3) -> ArgumentError: `size` is missing
    ac.bernoulli(ac.ones(1) * 2) -> ArgumentError: between 2 and 2; they
    ac.bernoulli(ac.arange(2)) -> DTypeError: `input` is int64; it must
    ac.multinomial(ac.ones(0), 1) -> ShapeError: shape \(0,\); it must be
    ac.multinomial(ac.tensor([1.0, 0.0]), 2) -> ArgumentError:
        has 1 weights above 0; to draw 2 indices, it must have
    ac.multinomial(ac.tensor([math.nan]), 1) -> ArgumentError: between nan and nan
    ac.normal(0.0, 1.0) -> ArgumentError: normal: mean=0\.0 and std=1\.0 are
    ac.normal(ac.ones(1), -1.0) -> ArgumentError: normal expects std >= 0\.0, but found
    ac.ones(1).normal_(0, -1) -> ArgumentError: normal_: got 0 and -1
    ac.ones(1).uniform_(2, 1) -> ArgumentError: uniform_: got 2 and 1
    ac.ones(1).exponential_(0) -> ArgumentError: `lambd` is 0; it must
    ac.manual_seed(1.5) -> ArgumentError: `seed` is 1.5; it must be an
    ac.manual_seed(2 ** 64) -> ArgumentError: does not fit in 64 bits
    ac.from_numpy([1.0]) -> DTypeError: needs a NumPy array, not list
    """,
    globals(),
)


def test_constants():
    assert ac.zeros(2, 3).tolist() == np.zeros((2, 3)).tolist()
    assert ac.ones((2,), dtype=ac.int32).tolist() == [1, 1]
    assert ac.full((2,), 3).dtype is ac.int64
    assert ac.full((2,), True).dtype is ac.bool
    assert ac.full((2,), 2.5).tolist() == [2.5, 2.5]
    assert ac.empty(2, 0).shape == (2, 0)
    assert ac.eye(2, 3).tolist() == np.eye(2, 3).tolist()
    assert ac.zeros(2, requires_grad=True).requires_grad


def test_likes():
    x = ac.ones(2, 3, dtype=ac.float64)
    for function in (
        ac.zeros_like,
        ac.ones_like,
        ac.empty_like,
        ac.rand_like,
        ac.randn_like,
    ):
        y = function(x)
        assert (y.shape, y.dtype) == (x.shape, x.dtype)
        assert function(x, dtype=ac.float32).dtype is ac.float32
    assert ac.full_like(x, 7).tolist() == [[7.0] * 3] * 2


def test_ranges():
    assert ac.arange(3).tolist() == [0, 1, 2]
    assert ac.arange(1, 7, 2).tolist() == [1, 3, 5]
    assert_close(ac.arange(0, 1, 0.25), np.arange(0, 1, 0.25, np.float32))
    assert ac.arange(3, dtype=ac.float64).dtype is ac.float64
    assert_close(ac.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype=np.float32))
    assert ac.linspace(0, 1, 1).tolist() == [0.0]


def test_random_numbers_repeat_with_the_seed():
    def draw():
        return [
            ac.rand(3).tolist(),
            ac.randn(2, 2).tolist(),
            ac.randint(0, 10, (4,)).tolist(),
            ac.randperm(5).tolist(),
            ac.rand(3, dtype=ac.float64).tolist(),
        ]

    ac.manual_seed(3)
    first = draw()
    ac.manual_seed(3)
    assert draw() == first
    assert draw() != first


def test_random_numbers_have_their_distribution():
    x = ac.rand(20_000)
    assert x.min().item() >= 0
    assert x.max().item() < 1
    assert abs(x.mean().item() - 0.5) < 0.01
    y = ac.randn(20_000)
    assert abs(y.mean().item()) < 0.03
    assert abs(y.std().item() - 1) < 0.03
    z = ac.randint(-2, 3, (5_000,))
    assert sorted(set(z.tolist())) == [-2, -1, 0, 1, 2]
    assert ac.randint(5, (3,)).max().item() < 5
    assert sorted(ac.randperm(100).tolist()) == list(range(100))


def test_generators_are_independent_and_can_go_on():
    g = ac.Generator().manual_seed(1)
    first = ac.rand(2, generator=g).tolist()
    state = g.get_state()
    second = ac.rand(2, generator=g).tolist()
    assert first != second
    g.set_state(state)
    assert ac.rand(2, generator=g).tolist() == second
    assert g.initial_seed() == 1
    assert ac.Generator().manual_seed(-1).initial_seed() == -1
    assert ac.Generator().manual_seed(2**64 - 1).initial_seed() == -1
    assert isinstance(g.seed(), int)


def test_draws_in_parts_are_one_stream():
    whole = ac.rand(6, generator=ac.Generator().manual_seed(5)).tolist()
    assert len(set(whole)) == 6


def test_as_tensor_shares_where_it_can():
    a = np.zeros(2, np.float32)
    x = ac.as_tensor(a)
    a[0] = 1
    assert x.tolist() == [1.0, 0.0]
    assert ac.as_tensor(x) is x
    assert ac.as_tensor(x, dtype=ac.float64).dtype is ac.float64
    assert ac.as_tensor([1, 2]).tolist() == [1, 2]
    a.flags.writeable = False
    assert ac.as_tensor(a).tolist() == [1.0, 0.0]
    b = np.arange(3.0)[::-1]
    assert ac.as_tensor(b).tolist() == [2.0, 1.0, 0.0]


def test_like_and_new():
    x = ac.ones(2, 3, dtype=ac.float64)
    for made in (
        ac.zeros_like(x, device="cpu", requires_grad=True),
        x.new_zeros(2, 3, requires_grad=True),
        x.new_full((2, 3), 4.0, requires_grad=True),
        ac.rand_like(x, requires_grad=True),
    ):
        assert (made.shape, made.dtype, made.requires_grad) == ((2, 3), x.dtype, True)
    assert x.new_ones((2,), dtype=ac.int8).dtype is ac.int8
    assert x.new_tensor([1, 2]).tolist() == [1.0, 2.0]
    assert x.new_empty(size=(0, 2)).shape == (0, 2)
    assert ac.randint_like(x, 3).dtype is ac.float64
    assert ac.full_like(x, 2, dtype=ac.int32).dtype is ac.int32


def test_a_range_in_out_keeps_its_shape():
    """A row of as many numbers fills a view, and an `out` of another shape."""
    x = ac.zeros(2, 3)
    ac.arange(4, out=x[:, 1:])
    assert x.tolist() == [[0, 0, 1], [0, 2, 3]]
    out = ac.zeros(3, 2).t()
    assert ac.linspace(0, 5, 6, out=out) is out
    assert out.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert ac.logspace(0, 5, 6, 2, out=out).tolist() == [[1, 2, 4], [8, 16, 32]]
    with pytest.raises(ShapeError, match="because `out` is a view"):
        ac.arange(9, out=x[:, 1:])
    with pytest.warns(AutocalcWarning, match="was resized"):
        ac.arange(5, out=x[:, 1:])
    assert x.tolist() == [[0, 0, 1], [2, 3, 4]]


def test_results_in_out():
    out = ac.empty(3)
    assert ac.arange(3, out=out) is out
    assert out.tolist() == [0.0, 1.0, 2.0]
    assert ac.linspace(0, 1, 3, out=out).tolist() == [0.0, 0.5, 1.0]
    assert ac.full((3,), 7, out=out).tolist() == [7.0] * 3
    assert ac.eye(2, out=ac.empty(2, 2, dtype=ac.int64)).tolist() == [[1, 0], [0, 1]]
    assert ac.rand(3, out=out) is out


def test_draws_from_distributions():
    ac.manual_seed(0)
    weights = ac.tensor([[0.0, 1.0, 3.0, 0.0], [5.0, 0.0, 0.0, 5.0]])
    drawn = ac.multinomial(weights, 4000, replacement=True)
    shares = [
        [(row == i).float().mean().item() for i in range(4)] for row in drawn.unbind()
    ]
    assert np.allclose(shares, [[0, 0.25, 0.75, 0], [0.5, 0, 0, 0.5]], atol=0.03)
    first = ac.multinomial(weights[:1].expand(4000, 4), 2)
    assert set(first.flatten().tolist()) == {1, 2}
    assert abs((first[:, 0] == 2).float().mean().item() - 0.75) < 0.03
    coins = ac.empty(4000).bernoulli_(0.3)
    assert abs(coins.mean().item() - 0.3) < 0.03
    assert set(coins.tolist()) == {0.0, 1.0}
    assert set(ac.empty(200, dtype=ac.int64).random_(-1, 2).tolist()) == {-1, 0, 1}
    assert ac.empty(200, dtype=ac.bool).random_().float().mean().item() > 0.2
    assert abs(ac.empty(4000).exponential_(2.0).mean().item() - 0.5) < 0.03
    assert ac.randperm(5, dtype=ac.int32).sort().values.tolist() == [0, 1, 2, 3, 4]


@pytest.fixture
def deterministic():
    ac.use_deterministic_algorithms(True)
    yield
    ac.use_deterministic_algorithms(False)


MAKES = {
    "empty": lambda dtype: ac.empty(3, 2, dtype=dtype),
    "empty_like": lambda dtype: ac.empty_like(ac.zeros(3, 2, dtype=dtype)),
    "new_empty": lambda dtype: ac.zeros(2, dtype=dtype).new_empty(3),
    "empty_strided": lambda dtype: ac.empty_strided((2, 2), (1, 5), dtype=dtype),
    "empty_permuted": lambda dtype: ac.empty_permuted((2, 3), (1, 0), dtype=dtype),
    "channels-last": lambda dtype: ac.empty_like(
        ac.zeros(2, 3, 4, 5, dtype=dtype), memory_format=ac.channels_last
    ),
}


@pytest.mark.parametrize("name", MAKES)
@pytest.mark.parametrize(
    "dtype", [ac.float32, ac.float16, ac.float64, ac.int8, ac.int64, ac.uint8, ac.bool]
)
def test_memory_is_filled_in_deterministic_mode(deterministic, name, dtype):
    for _ in range(40):  # later calls are remembered
        made = MAKES[name](dtype)
        if dtype.is_floating_point:
            assert made.isnan().all()
        else:
            most = True if dtype is ac.bool else ac.iinfo(dtype).max
            assert (made == most).all()


def test_memory_may_stay_as_it_is_in_deterministic_mode(deterministic, monkeypatch):
    monkeypatch.setitem(FILLING, "memory", False)
    memory = ac.empty(1000)
    memory.fill_(3.0)
    del memory
    assert not ac.empty(1000).isnan().all()
    assert ac.empty(0).shape == (0,)
