# SPDX-License-Identifier: MIT
"""Whether objects, dicts and lists hold what they held, both ways of looking."""

from __future__ import annotations

import gc
import weakref
from types import CellType
from typing import Any

import pytest
from tests.compile.parts import Unchanged, unchanged

import autocalc as ac
from autocalc import nn

KINDS = {"python": Unchanged, "runtime": unchanged}


GROUPS = "slots", "dicts", "entries", "lists", "classes", "attributes", "absent"


def watch(kind: Any, **groups: Any) -> Any:
    """Return a check of groups; the runtime takes no keywords."""
    return kind(*[groups.get(name, []) for name in GROUPS])


class Thing:
    __slots__ = ("__weakref__", "one", "two")

    def __init__(self) -> None:
        self.one: Any = object()
        self.two: Any = None


class Plain:
    """An object without slots, which a runtime leaves to the definition."""

    one: Any = 1


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Any:
    return KINDS[request.param]


def test_what_nobody_touched(kind: Any) -> None:
    thing, there = Thing(), {"a": object(), "b": None}
    slots = [(thing, "one", thing.one), (thing, "two", None)]
    watched = kind(slots, [(there, there.copy())])
    assert watched.holds()
    thing.one, there["a"] = thing.one, there["a"]
    assert watched.holds()
    assert kind([], []).holds()


def test_another_object_in_a_slot(kind: Any) -> None:
    thing = Thing()
    watched = kind([(thing, "one", thing.one), (thing, "two", None)], [])
    before, thing.two = thing.two, 3
    assert not watched.holds()
    thing.two = before
    assert watched.holds()


def test_one_entry_of_a_dict(kind: Any) -> None:
    held = [1]
    there = {"a": held, "b": None, 3: None}
    watched = kind([], [], [(there, "a", held), (there, 3, None)])
    assert watched.holds()
    there["b"] = there["c"] = 1  # others do not matter
    assert watched.holds()
    there["a"] = [1]  # equal, but not the same
    assert not watched.holds()
    there["a"] = held
    assert watched.holds()
    del there[3]
    assert not watched.holds()


def changes() -> dict[str, Any]:
    def another(there: dict[str, Any]) -> None:
        there["a"] = [1]  # equal, but not the same

    def more(there: dict[str, Any]) -> None:
        there["c"] = None

    def fewer(there: dict[str, Any]) -> None:
        del there["b"]

    def renamed(there: dict[str, Any]) -> None:
        there["c"] = there.pop("b")

    return {k: v for k, v in locals().items() if callable(v)}


@pytest.mark.parametrize("name", changes())
def test_another_dict(kind: Any, name: str) -> None:
    there = {"a": [1], "b": None}
    watched = kind([], [(there, there.copy())])
    assert watched.holds()
    changes()[name](there)
    assert not watched.holds()


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda there: there.append(None), id="longer"),
        pytest.param(lambda there: there.pop(), id="shorter"),
        pytest.param(lambda there: there.reverse(), id="another order"),
        pytest.param(lambda there: there.__setitem__(0, [1]), id="an equal element"),
    ],
)
def test_another_list(kind: Any, change: Any) -> None:
    there, empty = [[1], 2], []
    watched = watch(kind, lists=[(empty, []), (there, there.copy())])
    assert watched.holds()
    change(there)
    assert not watched.holds()


def test_an_element_moves_to_the_next_list(kind: Any) -> None:
    one, two = [1, 2], [3]
    watched = watch(kind, lists=[(one, one.copy()), (two, two.copy())])
    two.insert(0, one.pop())
    assert not watched.holds()


def test_another_class(kind: Any) -> None:
    class Other(Plain):
        pass

    class Liar(Plain):
        __class__ = int  # type: ignore[assignment]  # as a proxy says

    thing, liar = Plain(), Liar()
    watched = watch(kind, classes=[(thing, Plain), (liar, Liar)])
    assert watched.holds()
    thing.__class__ = Other
    assert not watched.holds()


def test_an_attribute_of_any_object(kind: Any) -> None:
    thing, cell = Plain(), CellType(1)
    read = [(thing, "one", 1), (cell, "cell_contents", 1)]
    watched = watch(kind, attributes=read)
    assert watched.holds()
    thing.one = 2
    assert not watched.holds()
    thing.one = 1
    del cell.cell_contents
    assert not watched.holds()  # an empty cell
    cell.cell_contents = 1
    assert watched.holds()
    assert not watch(kind, attributes=[(thing, "none", 1)]).holds()


def test_an_error_of_an_attribute_is_passed_on(kind: Any) -> None:
    class Broken:
        @property
        def one(self) -> Any:
            raise KeyError("one")

    with pytest.raises(KeyError, match="one"):
        watch(kind, attributes=[(Broken(), "one", 1)]).holds()


def test_a_key_that_was_absent(kind: Any) -> None:
    there: dict[str, Any] = {}
    watched = watch(kind, absent=[(there, "a"), (vars(Plain), "two")])
    assert watched.holds()
    there["b"] = None  # others do not matter
    assert watched.holds()
    there["a"] = None
    assert not watched.holds()


def test_objects_without_slots(kind: Any) -> None:
    thing = Plain()
    watched = kind([(thing, "one", 1)], [])
    assert watched.holds()
    thing.one = 2
    assert not watched.holds()


def test_it_is_freed_with_what_it_watches(kind: Any) -> None:
    thing = Thing()
    held = [thing]
    thing.two = kind(
        [(thing, "one", thing.one)],
        [({0: thing}, {0: thing})],
        [({0: thing}, 0, thing)],
        [(held, [thing])],
        [(thing, Thing)],
        [(thing, "one", thing.one)],
        [({thing: 0}, thing)],
    )
    del held
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None


def test_equal_attributes_let_a_program_go_on() -> None:
    model = nn.Sequential(nn.Linear(3, 2), nn.LeakyReLU(0.25))
    run, x = ac.compile(ac.no_grad()(model.forward)), ac.randn(4, 3)
    for _ in range(3):
        run(x)
    (program,) = run.programs
    model[1].negative_slope = float("0.25")
    assert run(x).tolist() == model(x).tolist()
    assert run.programs == [program]
    model[1].negative_slope = 0.5
    assert run(x).tolist() == model(x).tolist()


def test_a_hook_that_comes_later_is_seen() -> None:
    weight = ac.ones(3, requires_grad=True)

    def step() -> Any:
        weight.grad = None
        (weight * 2).sum().backward()
        return weight.grad.clone()

    run = ac.compile(step)
    for _ in range(4):
        assert run().tolist() == [2, 2, 2]
    handle = weight.register_hook(lambda g: g * 3)
    assert run().tolist() == [6, 6, 6]
    handle.remove()
    for _ in range(2):
        assert run().tolist() == [2, 2, 2]
