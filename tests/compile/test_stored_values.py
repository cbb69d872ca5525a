# SPDX-License-Identifier: MIT
"""Values that one function puts into an object, and that another one reads there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autocalc as ac


class Box:
    x: Any = None


class Slotted:
    __slots__ = ("x",)


class Filled:
    def __init__(self, layer: Any) -> None:
        self.x = layer


@dataclass
class Data:
    x: Any


def assign(cfg: Any, box: Any) -> None:
    box.x = cfg.layer


def set_by_name(cfg: Any, box: Any) -> None:
    setattr(box, "x", cfg.layer)  # noqa: B010 - the call is tested


def assign_deeply(cfg: Any, box: Any) -> None:
    assign(cfg, box)


def put_into_dict(cfg: Any, box: dict[str, Any]) -> None:
    box["x"] = cfg.layer


def append(cfg: Any, box: list[Any]) -> None:
    box.append(cfg.layer)


def attribute_of(kind: Any, put: Callable[..., None]) -> Callable[..., Any]:
    def step(a: Any, cfg: Any) -> Any:
        box = kind()
        put(cfg, box)
        return a * box.x.bias

    return step


def element_of(
    kind: Any, put: Callable[..., None], get: Callable[..., Any]
) -> Callable[..., Any]:
    def step(a: Any, cfg: Any) -> Any:
        box = kind()
        put(cfg, box)
        return a * get(box).bias

    return step


def built_by(kind: Any) -> Callable[..., Any]:
    def step(a: Any, cfg: Any) -> Any:
        return a * kind(cfg.layer).x.bias

    return step


def read_elsewhere(a: Any, cfg: Any) -> Any:
    box = Box()
    box.x = cfg.layer
    return a * bias_of(box)


def bias_of(box: Any) -> Any:
    return box.x.bias


def read_before(a: Any, cfg: Any) -> Any:
    box = Box()
    a = a * scale_of(box)
    assign(cfg, box)
    return a * scale_of(box)


def scale_of(box: Any) -> Any:
    return 1.0 if box.x is None else box.x.bias


def first_of(box: Any) -> Any:
    return box[0]


def x_of(box: Any) -> Any:
    return box["x"]


STEPS = {
    "an object": attribute_of(Box, assign),
    "slots": attribute_of(Slotted, assign),
    "a name space": attribute_of(SimpleNamespace, assign),
    "setattr": attribute_of(Box, set_by_name),
    "a function of a function": attribute_of(Box, assign_deeply),
    "a dict": element_of(dict, put_into_dict, x_of),
    "a list": element_of(list, append, first_of),
    "a constructor": built_by(Filled),
    "a data class": built_by(Data),
    "another reader": read_elsewhere,
    "a reader that has read": read_before,
}


@pytest.mark.parametrize("call", [1, 2, 3, 5])
@pytest.mark.parametrize("name", STEPS)
def test_a_value_that_changes_is_seen(name: str, call: int) -> None:
    cfg = SimpleNamespace(layer=SimpleNamespace(bias=2.0))
    compiled = ac.compile(lambda a: STEPS[name](a, cfg))
    ones = ac.ones(2)
    for i in range(8):
        if i == call:
            cfg.layer.bias = 5.0
        np.testing.assert_array_equal(compiled(ones), [cfg.layer.bias] * 2)


@pytest.mark.parametrize("name", STEPS)
def test_an_object_that_is_replaced_is_seen(name: str) -> None:
    cfg = SimpleNamespace(layer=SimpleNamespace(bias=2.0))
    compiled = ac.compile(lambda a: STEPS[name](a, cfg))
    ones = ac.ones(2)
    for i in range(8):
        if i == 4:
            cfg.layer = SimpleNamespace(bias=3.0)
        np.testing.assert_array_equal(compiled(ones), [cfg.layer.bias] * 2)


def attributes_swapped() -> Any:
    thing = Box()
    thing.x = 2.0
    return (lambda a: a * thing.x), lambda: setattr(thing, "__dict__", {"x": 5.0})


def bases_swapped() -> Any:
    class Two:
        x = 2.0

    class Five:
        x = 5.0

    class One(Two):
        pass

    one = One()
    return (lambda a: a * one.x), lambda: setattr(One, "__bases__", (Five,))


def keyword_defaults() -> Any:
    def scale(a: Any, *, by: float = 2.0) -> Any:
        return a * by

    return (lambda a: scale(a) * 1), lambda: setattr(
        scale, "__kwdefaults__", {"by": 5.0}
    )


def dispatched() -> Any:
    @functools.singledispatch
    def scale(a: Any) -> float:
        return 2.0

    return (lambda a: a * scale(3)), lambda: scale.register(int, lambda a: 5.0)


SWAPS = [attributes_swapped, bases_swapped, keyword_defaults, dispatched]


@pytest.mark.parametrize("call", [1, 2, 3, 5])
@pytest.mark.parametrize("make", SWAPS)
def test_what_holds_values_is_replaced(make: Callable[[], Any], call: int) -> None:
    step, change = make()
    compiled = ac.compile(step)
    for i in range(8):
        if i == call:
            change()
        expected = 2.0 if i < call else 5.0
        assert compiled(ac.ones(2)).tolist() == [expected] * 2
