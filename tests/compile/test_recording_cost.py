# SPDX-License-Identifier: MIT
"""A recording costs time by its function, not by the objects of the process."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from typing import Any

import pytest

import autocalc as ac
from autocalc import nn, optim
from autocalc._compile._watch import FunctionWatch


def perceptron() -> Callable[[], Any]:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = ac.rand(5, 4)

    def step() -> ac.Tensor:
        sgd.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        sgd.step()
        return loss

    return step


def transformer() -> Callable[[], Any]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2)
    adam = optim.NAdam(model.parameters(), lr=0.1)

    def step(x: ac.Tensor) -> ac.Tensor:
        loss = (model(x) ** 2).mean()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
        return loss

    return lambda: step(ac.ones(2, 3, 8))


def variables() -> Callable[[], Any]:
    w, nested, held = ac.ones(3), {"a": [ac.ones(3)]}, (ac.ones(3), ac.zeros(3))
    return lambda: w * nested["a"][0] + held[0] - held[1]


class Slotted:
    __slots__ = ("weight",)

    def __init__(self) -> None:
        self.weight = ac.ones(3)

    def __call__(self) -> ac.Tensor:
        return self.weight * 2


@pytest.mark.parametrize("make", [perceptron, transformer, variables, Slotted])
def test_no_objects_are_searched(
    make: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    step = ac.compile(make())
    step()
    collect = gc.collect

    def young(generation: int = 2) -> int:
        assert generation == 0
        return collect(0)

    def refuse(*_: Any) -> Any:
        pytest.fail("the heap is searched")

    monkeypatch.setattr(gc, "collect", young)
    monkeypatch.setattr(gc, "get_objects", refuse)
    monkeypatch.setattr(gc, "get_referrers", refuse)
    for _ in range(4):
        step()
    assert step.programs


def test_a_tensor_that_only_c_code_holds_is_found() -> None:
    w = ac.ones(3)
    step = ac.compile(map(w.mul, iter(lambda: ac.ones(3), None)).__next__)
    for _ in range(3):
        assert step().tolist() == [1, 1, 1]
    w.data = ac.full((3,), 2.0)
    assert step().tolist() == [2, 2, 2]


def test_the_collector_works_again_after_a_recording() -> None:
    def fail() -> None:
        raise ValueError("on purpose")

    for function in (lambda: ac.ones(2), fail):
        with contextlib.suppress(ValueError):
            ac.compile(function)()
        assert gc.isenabled()
    gc.disable()
    try:
        ac.compile(lambda: ac.ones(2))()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_memory_that_two_names_share_is_seen_to_part() -> None:
    w = ac.ones(3)
    alias = w.detach()
    step = ac.compile(lambda: w * 10 + alias)
    for _ in range(3):
        assert step().tolist() == [11, 11, 11]
    w.data = ac.full((3,), 2.0)
    for _ in range(3):
        assert step().tolist() == [21, 21, 21]
    alias.data = w.data
    for _ in range(3):
        assert step().tolist() == [22, 22, 22]
    w.fill_(3)
    assert step().tolist() == [33, 33, 33]


def test_what_is_left_in_cycles_is_not_kept() -> None:
    w = ac.ones(4, requires_grad=True)

    def step(x: ac.Tensor) -> ac.Tensor:
        y = w * x
        cycle: list[Any] = [y]
        cycle.append(cycle)
        loss = (y * y).sum()
        loss.backward()
        return loss.detach()

    compiled = ac.compile(step)
    for _ in range(4):
        w.grad = None
        assert compiled(ac.ones(4)).item() == 4
    assert compiled.programs


def layers(count: int) -> Callable[[], Any]:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, count)
    adam = optim.AdamW(model.parameters(), lr=0.1)
    x = ac.ones(2, 3, 8)

    def step() -> ac.Tensor:
        adam.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        adam.step()
        return loss

    step()
    return step


def test_the_events_of_a_recording_grow_with_the_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    see, seen = FunctionWatch._event, [0]

    def count(self: Any, *event: Any) -> None:
        seen[0] += 1
        see(self, *event)

    # Each event costs a call of Python: they are most of the time of a recording.
    monkeypatch.setattr(FunctionWatch, "_event", count)
    events = []
    for n in (2, 6, 10):
        seen[0] = 0
        step = ac.compile(layers(n))
        step()
        events.append(seen[0])
    first, second = events[1] - events[0], events[2] - events[1]
    assert second < 1.2 * first
    assert second < 4 * 16_000


def test_the_collector_does_not_run_while_a_program_is_made() -> None:
    step = ac.compile(layers(1))
    step()
    runs: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            runs.append(info["generation"])

    threshold = gc.get_threshold()
    gc.callbacks.append(note)
    try:
        gc.set_threshold(50, 1, 1)
        step()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(note)
    assert step.programs
    assert len(runs) <= 5
