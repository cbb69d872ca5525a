# SPDX-License-Identifier: MIT
"""Programs whose operands move with a number: one for all positions, and the limits."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.parts import (
    MAX_GROWING,
    Bookkeeping,
    MovingView,
    Operands,
    moving_operands,
)
from tests.compile.parts import replay as _replay
from tests.compile.passes import Compiled

import autocalc as ac
from autocalc.errors import CompileError, CompileWarning


def numbers(*shape: int, seed: int = 3) -> ac.Tensor:
    return ac.randn(*shape, generator=ac.Generator().manual_seed(seed))


table = numbers(3, 16, 4)
scale = numbers(4)


def ring(t: Any) -> ac.Tensor:
    return table[:, t % 8] * 2


def window(t: Any) -> ac.Tensor:
    return table[:, max(0, t - 3) : t + 1].sum(1)


def decides(t: Any) -> ac.Tensor:
    return table[0, t] * 3 if t > 5 else table[1, t] * 2


def cut_off(t: Any) -> ac.Tensor:
    return table[0, : t + 2].sum(0)


def looked_at(t: Any) -> ac.Tensor:
    seen = table[0, :t]
    return seen.sum(0) if seen.shape[0] < 6 else seen.amax(0)


def softmax(t: Any) -> ac.Tensor:
    scores = table[:, : t + 1] @ scale
    return (scores.softmax(-1).unsqueeze(1) @ table[:, : t + 1]).exp()


#: Functions of a number; how many programs they need for 0 to 13 in order, four times.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "a row": (lambda t: table[:, t] + 1, 1),
    "a row and a number": (lambda t: table[:, t] * t, 1),
    "a window of fixed size": (lambda t: table[:, t : t + 2] * scale, 1),
    "narrow": (lambda t: table.narrow(1, t, 3).exp(), 1),
    "the first rows": (lambda t: table[:, : t + 1].sum(1), 2),
    "the last rows": (lambda t: table[:, 14 - t :].sum(1), 1),
    "a range": (lambda t: ac.arange(t, t + 3) * 2, 1),
    "a tensor": (lambda t: table[0][ac.tensor([t, t + 1])], 1),
    "softmax": (softmax, 2),
    "two rows": (lambda t: table[:, t] + table[:, 13 - t], 1),
    "pages": (lambda t: table[0, 8 * (t // 8) + 3] * 2, 4),
    "window": (window, 8),
    "ring": (ring, 4),
    "decides": (decides, 2),
    "cut off": (cut_off, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_replays_are_what_eager_code_gives(name: str) -> None:
    function, most = FUNCTIONS[name]
    run = Compiled(function)
    for t in [*range(14)] * 4:
        assert run(t).tolist() == function(t).tolist(), t
    assert len(run.programs) <= most
    assert run._replays >= 14


WAYS = ("native", "Python bookkeeping", "Python")


@pytest.mark.parametrize("way", WAYS)
def test_executors_and_bookkeeping_in_c_and_python(way: str, monkeypatch: Any) -> None:
    if way != "native":
        monkeypatch.setattr(_replay, "bookkeeping", Bookkeeping)
    if way == "Python":
        monkeypatch.setattr(_replay, "native_executor", None)
    run = Compiled(remember)
    mine, theirs = ac.zeros(2, 9, 4), ac.zeros(2, 9, 4)
    for t in range(9):
        new = numbers(2, 4, seed=t)
        assert run(mine, new, t).tolist() == remember(theirs, new, t).tolist()
        assert mine.tolist() == theirs.tolist()
    assert len(run.programs) == 1
    assert run._replays == 5


@pytest.mark.parametrize("way", ["native", "Python"])
def test_moving_operands(way: str) -> None:
    make = moving_operands if way == "native" else Operands
    f32, memory = np.dtype("f4"), np.arange(24, dtype="f4").view("u1")
    grows = MovingView(0, f32, (0, 0), ((1, 1), (0, 2)), ((0, 8), (0, 4)))
    goes = MovingView(0, f32, (8, 4), ((0, 1),), ((0, 4),))
    stays = MovingView(1, f32, (0, 8), ((0, 2),), ((0, -4),))
    operands = make([grows, None, [goes, stays]])
    pieces = memory, memory.copy()
    for t in (1, 3, 2):
        first, none, (second, third) = operands.arrays(pieces, t)
        assert none is None
        assert first.tolist() == [[2.0 * i, 2.0 * i + 1] for i in range(t + 1)]
        assert second.tolist() == [2.0 * t + 1]
        assert third.tolist() == [2.0, 1.0]
    assert operands.arrays(pieces, 9)[2][1] is third  # neither moved
    other = memory, np.ones(24, "f4").view("u1")
    assert operands.arrays(other, 2)[2][1].tolist() == [1.0, 1.0]
    first[...] = 7  # it is the memory, not a copy
    assert memory.view("f4")[:6].tolist() == [7.0] * 6


def test_moving_operands_with_too_little_memory() -> None:
    layout = MovingView(1, np.dtype("f4"), (1, 0), ((0, 1),), ((0, 4),))
    for make in (moving_operands, Operands):
        with pytest.raises(IndexError):
            make([layout]).arrays((np.zeros(4, "u1"),), 0)


def remember(cache: ac.Tensor, new: ac.Tensor, t: int) -> ac.Tensor:
    cache[:, t] = new
    return (cache[:, : t + 1] * new.unsqueeze(1)).sum(-1).softmax(-1).square().sum(-1)


def test_caches_of_several_layers_in_one_tensor() -> None:
    """A slice that is cut off must not go on into the next layer."""
    caches = numbers(3, 6, 4)

    def last_two(t: int) -> ac.Tensor:
        return caches[0, t : t + 2].sum(0)

    run = Compiled(last_two)
    for t in [*range(6), *range(5, -1, -1)] * 3:
        assert run(t).tolist() == last_two(t).tolist()


def test_negative_numbers_count_from_the_end() -> None:
    run = Compiled(lambda t: table[:, t] * 2)
    for t in [*range(-4, 4)] * 3:
        assert run(t).tolist() == (table[:, t] * 2).tolist()


def test_out_of_range_is_the_error_of_eager_code() -> None:
    run = Compiled(lambda t: table[:, t] * 2)
    for t in range(6):
        run(t)
    assert len(run.programs) == 1
    with pytest.raises(ac.errors.DimensionError, match="index 16 is out of bounds"):
        run(16)
    assert run(15).tolist() == (table[:, 15] * 2).tolist()


def test_arguments_that_lie_in_other_memory() -> None:
    """A view of the end of something large, then what is small."""
    large = numbers(40, 9, 4)
    run = Compiled(lambda cache, t: cache[:, : t + 1].sum(1))
    for t in range(5):
        run(large[38:], t)
    small = large[38:].clone()
    for t in range(5, 9):
        assert run(small, t).tolist() == small[:, : t + 1].sum(1).tolist()
    assert len(run.programs) == 1


def test_a_tensor_that_is_replaced_by_one_in_other_memory() -> None:
    owner = numbers(2, 9, 4)
    run = Compiled(lambda t: owner[:, t] * 3)
    for t in range(5):
        run(t)
    owner.data = numbers(2, 9, 4, seed=9)
    for t in range(5, 9):
        assert run(t).tolist() == (owner[:, t] * 3).tolist()


def test_gradients_of_a_row_that_moves() -> None:
    weight = numbers(9, 4).requires_grad_()
    other = weight.detach().clone().requires_grad_()

    def loss(w: ac.Tensor, t: int) -> ac.Tensor:
        total = (w[t] ** 2).sum()
        total.backward()
        return total

    run = Compiled(lambda t: loss(weight, t))
    for t in range(9):
        assert run(t).item() == loss(other, t).item()
        assert np.array_equal(weight.grad.numpy(), other.grad.numpy())  # type: ignore[union-attr]
        assert weight.grad is not None
        weight.grad.zero_()
        other.grad.zero_()  # type: ignore[union-attr]


def test_temporaries_have_room_for_the_largest() -> None:
    run = Compiled(softmax)
    for t in range(5):
        run(t)
    (program,) = run.programs
    assert program.memory.peak >= 3 * 16 * 4
    limited = Compiled(softmax, limit=64)
    limited(0)
    limited(1)
    limited(2)
    with pytest.raises(CompileError, match=r"temporaries need [\d,]+ bytes"):
        limited(3)


def test_a_program_names_what_moves() -> None:
    run = Compiled(lambda t: table[:, t].exp())
    for t in range(4):
        run(t)
    assert "host: exp" in str(run.programs[0])


#: Functions of which each number needs a program of its own.
APART: dict[str, Callable[[Any], Any]] = {
    "two numbers": lambda t: table[:, t, t * t % 3] * 2,
    "a result's shape": lambda t: table[0, :t] * 2,
    "a shape that is looked at": looked_at,
}


@pytest.mark.parametrize("name", APART)
def test_what_is_recorded_for_each_number(name: str) -> None:
    function = APART[name]
    run = Compiled(function)
    for t in [2, 2, 4, 4, 5, 5, 8, 8] * 2:
        assert run(t).tolist() == function(t).tolist()
    assert len(run.programs) == 4


@pytest.mark.parametrize("name", APART)
def test_what_is_recorded_too_often_is_an_error_that_says_why(name: str) -> None:
    run = Compiled(APART[name])
    for t in range(2, 7):
        run(t)
    with pytest.raises(CompileError, match="An integer among the arguments varied"):
        run(7)


ASKS: dict[str, Callable[[ac.Tensor], Any]] = {
    "shape": lambda x: x.shape,
    "size": lambda x: x.size(0),
    "len": len,
    "numel": lambda x: x.numel(),
    "nbytes": lambda x: x.nbytes,
    "stride": lambda x: x.stride(),
}


@pytest.mark.parametrize("how", ASKS)
def test_every_way_to_ask_for_a_size_is_seen(how: str) -> None:
    def asks(t: int) -> ac.Tensor:
        columns = table.transpose(1, 2)[:, :, :t].contiguous()
        ASKS[how](columns[0] if how == "stride" else columns.transpose(0, 2))
        return columns.sum(-1)

    run = Compiled(asks)
    for t in [2, 2, 4, 4, 5, 5]:
        assert run(t).tolist() == asks(t).tolist()
    assert len(run.programs) == 3


def test_a_number_that_only_decides() -> None:
    run = Compiled(lambda x, t: x * 2 if t < 8 else x + 1)
    for t in range(16):
        assert run(scale, t).tolist() == (scale * 2 if t < 8 else scale + 1).tolist()
    assert len(run.programs) == 4
    assert run._replays == 10


def test_a_number_that_is_an_operand_and_decides() -> None:
    run = Compiled(lambda x, t: x * t if t < 8 else x - t)
    for t in range(16):
        assert run(scale, t).tolist() == (scale * t if t < 8 else scale - t).tolist()


def test_numbers_that_are_returned_are_plain() -> None:
    run = Compiled(lambda t: (table[:, t] * 2, 7, [t, t]))
    for t in (1, 2, 3, 3, 3):
        _, seven, (same, _) = run(t)
        assert (seven, same) == (7, t)
        assert type(same) is int


def test_nothing_is_kept_of_numbers_that_were_followed() -> None:
    run = Compiled(lambda t: table[:, t] * 2)
    for t in range(6):
        run(t)
    gc.collect()
    from tests.compile.parts import Tracked

    assert not [one for one in gc.get_objects() if isinstance(one, Tracked)]


def test_a_cache_that_grows_gets_advice() -> None:
    run = Compiled(lambda cache: cache.sum(0))
    cache = numbers(1, 4)
    for _ in range(MAX_GROWING):
        assert run(cache).tolist() == cache.sum(0).tolist()
        cache = ac.cat([cache, numbers(1, 4)])
    with pytest.warns(CompileWarning, match="grows by `cat`.*position as a number"):
        run(cache)


def test_batches_of_several_sizes_get_none(recwarn: Any) -> None:
    run = Compiled(lambda batch: batch.sum(0))
    for size in (1, 2, 3, 8, 4, 5, 6, 7, 2, 9, 10, 11, 3, 4):
        run(numbers(size, 4))
    assert not recwarn.list
