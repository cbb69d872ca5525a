# SPDX-License-Identifier: MIT
"""Values in variables, arguments and containers."""

from __future__ import annotations

import functools
import types
from collections import ChainMap, OrderedDict, UserDict, defaultdict, deque, namedtuple
from typing import Any

from tests.compile.captured_places import Program, Thing, place

# ---- variables -----------------------------------------------------------------------


@place
def variable(v: Any) -> Program:
    def change(new: Any) -> None:
        nonlocal v
        v = new

    return lambda use, a: use(v, a), {"assigned": change}


@place
def variable_of_an_inner_function(v: Any) -> Program:
    def change(new: Any) -> None:
        nonlocal v
        v = new

    def step(use: Any, a: Any) -> Any:
        def inner() -> Any:
            return use(v, a)

        return inner()

    return step, {"assigned": change}


@place
def one_of_two_closures(v: Any) -> Program:
    def make(w: Any) -> Any:
        def get() -> Any:
            return w

        def put(new: Any) -> None:
            nonlocal w
            w = new

        return get, put

    (one, put), (_, _), (two, other) = make(v), make(v), make(v)

    def step(use: Any, a: Any) -> Any:
        return use(one(), a) + use(two(), a)

    return step, {"first": put, "second": other}


GLOBAL: Any = None


@place
def global_variable(v: Any) -> Program:
    def change(new: Any) -> None:
        global GLOBAL
        GLOBAL = new

    change(v)
    return lambda use, a: use(GLOBAL, a), {"assigned": change}


@place
def global_of_a_function_that_is_called(v: Any) -> Program:
    there: dict[str, Any] = {"value": v}
    exec("def get():\n    return value", there)
    get = there["get"]
    return lambda use, a: use(get(), a), {
        "assigned": lambda new: there.update(value=new)
    }


@place
def global_by_its_name(v: Any) -> Program:
    def change(new: Any) -> None:
        global GLOBAL
        GLOBAL = new

    change(v)
    return lambda use, a: use(globals()["GLOBAL"], a), {"assigned": change}


@place
def default_argument(v: Any) -> Program:
    def step(use: Any, a: Any, value: Any = v) -> Any:
        return use(value, a)

    def change(new: Any) -> None:
        step.__defaults__ = (new,)

    return step, {"replaced": change}


@place
def default_of_a_keyword(v: Any) -> Program:
    def get(*, value: Any = v) -> Any:
        return value

    def change(new: Any) -> None:
        get.__kwdefaults__["value"] = new  # type: ignore[index]  # it has one

    return lambda use, a: use(get(), a), {"replaced": change}


@place
def container_as_default(v: Any) -> Program:
    kept = {"w": [v]}

    def get(there: Any = kept) -> Any:
        return there["w"][0]

    return lambda use, a: use(get(), a), {
        "element": lambda new: kept["w"].__setitem__(0, new),
        "container": lambda new: kept.update(w=[new]),
    }


@place
def attribute_of_a_function(v: Any) -> Program:
    def step(use: Any, a: Any) -> Any:
        return use(step.value, a)  # type: ignore[attr-defined]  # set below

    def change(new: Any) -> None:
        step.value = new  # type: ignore[attr-defined]  # as above

    change(v)
    return step, {"assigned": change}


@place
def code_of_a_function(v: Any) -> Program:
    there: dict[str, Any] = {"value": v, "other": None}
    exec("def get():\n    return value\ndef get_other():\n    return other", there)
    get = there["get"]

    def change(new: Any) -> None:
        there["other"] = new
        get.__code__ = there["get_other"].__code__

    return lambda use, a: use(get(), a), {"replaced": change}


# ---- containers ----------------------------------------------------------------------


def in_container(held: Any, get: Any, /, **changes: Any) -> Program:
    def step(use: Any, a: Any) -> Any:
        return use(get(held), a)

    return step, {k: functools.partial(change, held) for k, change in changes.items()}


@place
def nested_dict(v: Any) -> Program:
    cfg = {"loss": {"w": v}, "other": 1}

    def step(use: Any, a: Any) -> Any:
        return use(cfg["loss"]["w"], a)  # type: ignore[index]  # a dict

    def put(new: Any) -> None:
        cfg["loss"]["w"] = new  # type: ignore[index]  # a dict

    def replace(new: Any) -> None:
        cfg["loss"] = {"w": new}

    return step, {"element": put, "container": replace}


@place
def lists_in_lists(v: Any) -> Program:
    return in_container(
        [[0, [v]], 2],
        lambda c: c[0][1][0],
        element=lambda c, new: c[0][1].__setitem__(0, new),
        inner=lambda c, new: c[0].__setitem__(1, [new]),
        outer=lambda c, new: c.__setitem__(0, [0, [new]]),
        inserted=lambda c, new: c.insert(0, [0, [new]]),
    )


@place
def dicts_in_lists(v: Any) -> Program:
    return in_container(
        [{"lr": v, "params": []}],
        lambda c: c[0]["lr"],
        element=lambda c, new: c[0].update(lr=new),
        container=lambda c, new: c.__setitem__(0, {"lr": new}),
    )


@place
def tuple_of_dicts(v: Any) -> Program:
    return in_container(
        ({"a": ({"w": v},)},),
        lambda c: c[0]["a"][0]["w"],
        element=lambda c, new: c[0]["a"][0].update(w=new),
    )


@place
def ordered_dict(v: Any) -> Program:
    return in_container(
        OrderedDict(a=OrderedDict(w=v)),
        lambda c: c["a"]["w"],
        element=lambda c, new: c["a"].update(w=new),
    )


@place
def default_dict(v: Any) -> Program:
    return in_container(
        defaultdict(dict, {"a": {"w": v}}),
        lambda c: c["a"]["w"],
        element=lambda c, new: c["a"].update(w=new),
    )


@place
def user_dict(v: Any) -> Program:
    return in_container(
        UserDict(w=v), lambda c: c["w"], element=lambda c, new: c.update(w=new)
    )


@place
def chain_map(v: Any) -> Program:
    return in_container(
        ChainMap({}, {"w": v}),
        lambda c: c["w"],
        hidden=lambda c, new: c.update(w=new),
        element=lambda c, new: c.maps[1].update(w=new),
    )


@place
def read_only_dict(v: Any) -> Program:
    there = {"w": v}
    seen = types.MappingProxyType(there)
    return lambda use, a: use(seen["w"], a), {"element": lambda n: there.update(w=n)}


@place
def double_ended_queue(v: Any) -> Program:
    return in_container(deque([v]), lambda c: c[-1], added=lambda c, new: c.append(new))


@place
def many_elements(v: Any) -> Program:
    return in_container(
        [*range(400), v],
        lambda c: c[-1],
        element=lambda c, new: c.__setitem__(-1, new),
        added=lambda c, new: c.append(new),
    )


@place
def many_keys(v: Any) -> Program:
    return in_container(
        {i: {"w": v} for i in range(400)},
        lambda c: c[399]["w"],
        element=lambda c, new: c[399].update(w=new),
    )


class Bag(list[Any]):
    """A list of one's own."""


class Open(dict[str, Any]):
    """A dict whose elements are attributes."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@place
def list_of_ones_own(v: Any) -> Program:
    return in_container(
        Bag([v]), lambda c: c[0], element=lambda c, new: c.__setitem__(0, new)
    )


@place
def attribute_dict(v: Any) -> Program:
    return in_container(
        Open(loss=Open(w=v)),
        lambda c: c.loss.w,
        element=lambda c, new: setattr(c.loss, "w", new),
        container=lambda c, new: setattr(c, "loss", Open(w=new)),
    )


@place
def with_a_default(v: Any) -> Program:
    def step(use: Any, a: Any) -> Any:
        return use(there.get("w", v), a)

    there: dict[str, Any] = {}
    return step, {"added": lambda new: there.update(w=new)}


@place
def found_by_a_loop(v: Any) -> Program:
    pairs = [("a", 1), ("w", v)]

    def step(use: Any, a: Any) -> Any:
        for key, one in pairs:
            if key == "w":
                return use(one, a)
        return a

    return step, {
        "element": lambda new: pairs.__setitem__(1, ("w", new)),
        "inserted": lambda new: pairs.insert(0, ("w", new)),
    }


@place
def found_by_a_comprehension(v: Any) -> Program:
    things: list[Any] = [Thing(), Thing()]
    for thing in things:
        thing.value = v

    def step(use: Any, a: Any) -> Any:
        return use([thing.value for thing in things][1], a)

    return step, {"assigned": lambda new: setattr(things[1], "value", new)}


Pair = namedtuple("Pair", "first rest")  # noqa: PYI024  as programs have it


@place
def named_tuple(v: Any) -> Program:
    pair = Pair(1, {"w": v})

    def step(use: Any, a: Any) -> Any:
        return use(pair.rest["w"], a)

    def replace(new: Any) -> None:
        nonlocal pair
        pair = Pair(1, {"w": new})

    return step, {"element": lambda new: pair.rest.update(w=new), "replaced": replace}
