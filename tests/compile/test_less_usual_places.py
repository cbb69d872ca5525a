# SPDX-License-Identifier: MIT
"""Values that a compiled step reads in less usual ways: base classes, order, signs."""

from __future__ import annotations

import functools
import math
import operator
import threading
from collections import OrderedDict
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import autocalc as ac

x = ac.tensor([1.0, 2.0, 3.0])

Made = tuple[Callable[[Any], Any], list[Callable[[], object]]]


def method_of_a_base() -> Made:
    class Base:
        def f(self, a: Any) -> Any:
            return a * 2

    class Middle(Base):
        pass

    class Own(Middle):
        def f(self, a: Any) -> Any:
            return super().f(a) + 1

    own = Own()
    new = [lambda self, a: a - 5, lambda self, a: a - 7]
    return own.f, [
        lambda: setattr(Base, "f", new[0]),
        lambda: setattr(Middle, "f", new[1]),
    ]


def class_method_of_a_base() -> Made:
    class Base:
        @classmethod
        def f(cls, a: Any) -> Any:
            return a * 2

    class Own(Base):
        @classmethod
        def f(cls, a: Any) -> Any:
            return super().f(a) + 1

    return Own.f, [lambda: setattr(Base, "f", classmethod(lambda cls, a: a))]


def attribute_of_a_base() -> Made:
    class Base:
        k = 2.0

    class Own(Base):
        k = 7.0

        def f(self, a: Any) -> Any:
            return a * super().k

    own = Own()
    return own.f, [lambda: setattr(Base, "k", 3.0)]


def name_that_is_not_there_yet() -> Made:
    def step(a: Any) -> Any:
        try:
            k = late_name  # type: ignore[name-defined]
        except NameError:
            k = 2.0
        return a * k

    return step, [
        lambda: globals().__setitem__("late_name", 4.0),
        lambda: globals().pop("late_name"),
    ]


def sign_of_zero() -> Made:
    numbers = [0.0]
    return lambda a: a * math.copysign(2.0, numbers[0]), [
        lambda: numbers.__setitem__(0, -0.0)
    ]


def list_in_a_partial_function() -> Made:
    numbers = [2.0]
    return functools.partial(lambda given, a: a * given[0], numbers), [
        lambda: numbers.__setitem__(0, 9.0)
    ]


def name_in_an_attrgetter() -> Made:
    thing = SimpleNamespace(part=SimpleNamespace(k=2.0))
    get = operator.attrgetter("part.k")
    return lambda a: a * get(thing), [lambda: setattr(thing.part, "k", 0.5)]


def attribute_of_a_thread() -> Made:
    local = threading.local()
    local.k = 2.0
    return lambda a: a * local.k, [lambda: setattr(local, "k", 5.0)]


def order_of_a_dict() -> Made:
    numbers = OrderedDict(a=2.0, b=3.0)
    return lambda a: a * next(iter(numbers.values())), [
        lambda: numbers.move_to_end("a")
    ]


def attribute_of_a_class_by_a_computed_name() -> Made:
    class Own:
        first = 2.0
        second = 3.0

    names = ["first"]
    return lambda a: a * getattr(Own, names[0]) * vars(Own)["second"], [
        lambda: setattr(Own, "first", 5.0),
        lambda: names.__setitem__(0, "second"),
        lambda: setattr(Own, "second", 7.0),
    ]


def attribute_of_a_module_by_a_computed_name() -> Made:
    module: Any = ModuleType("settings_of_a_step")
    module.first, module.second = 2.0, [3.0]
    names = ["first"]

    def step(a: Any) -> Any:
        return a * ac.tensor(getattr(module, names[0]))

    return step, [
        lambda: setattr(module, "first", 5.0),
        lambda: names.__setitem__(0, "second"),
        lambda: module.second.__setitem__(0, 7.0),
    ]


def variable_in_a_class_body() -> Made:
    numbers = [2.0]

    def step(a: Any) -> Any:
        class Inner:
            k = numbers[0]

        return a * Inner.k

    return step, [lambda: numbers.__setitem__(0, 7.0)]


@pytest.mark.parametrize(
    "make",
    [
        method_of_a_base,
        class_method_of_a_base,
        attribute_of_a_base,
        name_that_is_not_there_yet,
        sign_of_zero,
        list_in_a_partial_function,
        name_in_an_attrgetter,
        attribute_of_a_thread,
        order_of_a_dict,
        attribute_of_a_class_by_a_computed_name,
        attribute_of_a_module_by_a_computed_name,
        variable_in_a_class_body,
    ],
)
def test_a_change_is_seen(make: Callable[[], Made]) -> None:
    step, changes = make()
    run = ac.compile(step)
    for change in [lambda: None, *changes]:
        change()
        for _ in range(3):
            assert run(x).tolist() == step(x).tolist()


@pytest.mark.parametrize("before", [[0.0], [1.0, 2.0, 0.0]])
def test_the_sign_of_a_zero_among_the_arguments(before: list[float]) -> None:
    def step(a: Any, k: float) -> Any:
        return a * math.copysign(2.0, k)

    run = ac.compile(step)
    for k in [*before, 0.0, 0.0, -0.0, -0.0, 0.0]:
        assert run(x, k).tolist() == step(x, k).tolist()
