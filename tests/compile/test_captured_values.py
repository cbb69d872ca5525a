# SPDX-License-Identifier: MIT
"""No compiled step goes on with an old value, wherever its Python found it.

Each program is a place of a value, a kind of value, and a way to change it.  It is
called three times, the value is changed, and it is called twice: the results are those
of eager code, or the step is refused with its line.
"""

from __future__ import annotations

import contextvars
import enum
import functools
import types
import weakref
from collections import ChainMap, OrderedDict, UserDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError

x = ac.tensor([1.0, 2.0, 3.0])


def linear(scale: float) -> nn.Module:
    layer = nn.Linear(3, 3).requires_grad_(False)
    layer.weight.fill_(scale)
    return layer


class Kind(NamedTuple):
    """How a value is used, the first value, and the one that comes after it."""

    use: Callable[[Any, ac.Tensor], ac.Tensor]
    first: Callable[[], Any]
    then: Callable[[], Any]


KINDS = {
    "float": Kind(lambda v, a: a * v, lambda: 0.75, lambda: 2.5),
    "deciding float": Kind(
        lambda v, a: a * v if v > 0.5 else a - v, lambda: 0.75, lambda: 0.25
    ),
    "int": Kind(lambda v, a: a * v, lambda: 3, lambda: 7),
    "deciding int": Kind(
        lambda v, a: a + 1 if v == 3 else a.exp(), lambda: 3, lambda: 7
    ),
    "bool": Kind(lambda v, a: a * 2 if v else a.exp(), lambda: True, lambda: False),
    "str": Kind(lambda v, a: getattr(a, v)(), lambda: "exp", lambda: "tanh"),
    "None": Kind(
        lambda v, a: a * 2 if v is None else a * v, lambda: None, lambda: 5.0
    ),
    "tensor": Kind(
        lambda v, a: a + v, lambda: ac.ones(3) * 4, lambda: ac.ones(3) * 9
    ),
    "module": Kind(lambda v, a: v(a), lambda: linear(1.0), lambda: linear(-2.0)),
    "function": Kind(
        lambda v, a: v(a),
        lambda: lambda *a: a[-1] + 1.0,
        lambda: lambda *a: a[-1] * 3.0,
    ),
}  # fmt: skip

#: A step of two arguments, how it uses the value and x; and what changes the value.
Program = tuple[Callable[[Any, ac.Tensor], ac.Tensor], dict[str, Callable[[Any], Any]]]
PLACES: dict[str, Callable[[Any], Program]] = {}


def place(make: Callable[[Any], Program]) -> Callable[[Any], Program]:
    PLACES[make.__name__] = make
    return make


class Thing:
    """An object with attributes."""


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
        UserDict(w=v),
        lambda c: c["w"],
        element=lambda c, new: c.update(w=new),
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


# ---- attributes ----------------------------------------------------------------------


@place
def five_attributes_deep(v: Any) -> Program:
    things = [Thing() for _ in range(6)]
    for outer, inner in pairwise(things):
        outer.a = inner  # type: ignore[attr-defined]  # any object
    things[5].a = v  # type: ignore[attr-defined]
    top: Any = things[0]

    def step(use: Any, a: Any) -> Any:
        return use(top.a.a.a.a.a.a, a)

    def replace(new: Any) -> None:
        top.a.a = Thing()
        top.a.a.a = Thing()
        top.a.a.a.a = Thing()
        top.a.a.a.a.a = Thing()
        top.a.a.a.a.a.a = new

    return step, {
        "assigned": lambda new: setattr(things[5], "a", new),
        "replaced": replace,
    }


@place
def attribute_of_a_class(v: Any) -> Program:
    class Base:
        value = v

    class Derived(Base):
        pass

    thing = Derived()

    def step(use: Any, a: Any) -> Any:
        return use(thing.value, a)

    return step, {
        "assigned": lambda new: setattr(Base, "value", new),
        "hidden by a class": lambda new: setattr(Derived, "value", new),
        "hidden by an instance": lambda new: setattr(thing, "value", new),
        "in the dict": lambda new: thing.__dict__.update(value=new),
    }


@place
def attribute_of_a_class_itself(v: Any) -> Program:
    class Config:
        value = v
        inner: Any = None

    Config.inner = {"w": v}

    def step(use: Any, a: Any) -> Any:
        return use(Config.value, a) + use(Config.inner["w"], a)

    return step, {
        "assigned": lambda new: setattr(Config, "value", new),
        "element": lambda new: Config.inner.update(w=new),
    }


@place
def uncovered_attribute(v: Any) -> Program:
    class Config:
        value: Any = None

    thing = Config()
    thing.value = v

    def step(use: Any, a: Any) -> Any:
        return use(thing.value, a)

    def remove(new: Any) -> None:
        Config.value = new
        del thing.value

    return step, {"deleted": remove}


@place
def other_class(v: Any) -> Program:
    class One:
        value = v

    class Other:
        value = v

    thing: Any = One()

    def change(new: Any) -> None:
        Other.value = new
        thing.__class__ = Other

    return lambda use, a: use(thing.value, a), {"replaced": change}


@place
def property_of_a_class(v: Any) -> Program:
    class Config:
        def __init__(self) -> None:
            self._value = {"w": v}

        @property
        def value(self) -> Any:
            return self._value["w"]

    thing = Config()

    def step(use: Any, a: Any) -> Any:
        return use(thing.value, a)

    return step, {
        "element": lambda new: thing._value.update(w=new),
        "container": lambda new: setattr(thing, "_value", {"w": new}),
        "property": lambda new: setattr(Config, "value", property(lambda _: new)),
    }


@place
def object_that_a_property_returns(v: Any) -> Program:
    class Config:
        def __init__(self) -> None:
            inner: Any = Thing()
            inner.w = v
            self._inner = inner

        @property
        def inner(self) -> Any:
            return self._inner

        def get(self) -> Any:
            return self._inner

    thing = Config()

    def step(use: Any, a: Any) -> Any:
        return use(thing.inner.w, a) + use(thing.get().w, a)

    return step, {"assigned": lambda new: setattr(thing._inner, "w", new)}


@place
def method(v: Any) -> Program:
    class Config:
        def value(self) -> Any:
            return v

    thing = Config()

    def step(use: Any, a: Any) -> Any:
        return use(thing.value(), a)

    return step, {
        "of the class": lambda new: setattr(Config, "value", lambda _: new),
        "of the instance": lambda new: setattr(thing, "value", lambda: new),
    }


@place
def called_object(v: Any) -> Program:
    class Config:
        def __call__(self) -> Any:
            return v

        def __getitem__(self, key: str) -> Any:
            return v

    thing = Config()

    def step(use: Any, a: Any) -> Any:
        return use(thing(), a) + use(thing["w"], a)

    return step, {
        "call": lambda new: setattr(Config, "__call__", lambda _: new),
        "subscript": lambda new: setattr(Config, "__getitem__", lambda *_: new),
    }


@place
def attribute_by_getattr(v: Any) -> Program:
    thing = Thing()

    def step(use: Any, a: Any) -> Any:
        return use(getattr(thing, "mask", v), a)

    return step, {"added": lambda new: setattr(thing, "mask", new)}


@place
def attribute_by_a_computed_name(v: Any) -> Program:
    thing: Any = Thing()
    thing.w1 = v

    def step(use: Any, a: Any) -> Any:
        return use(getattr(thing, "w" + str(len("a"))), a)

    return step, {"assigned": lambda new: setattr(thing, "w1", new)}


@place
def attribute_that_may_be_there(v: Any) -> Program:
    class Config(Thing):
        pass

    thing: Any = Config()

    def step(use: Any, a: Any) -> Any:
        return use(thing.mask if hasattr(thing, "mask") else v, a)

    return step, {
        "added": lambda new: setattr(thing, "mask", new),
        "of the class": lambda new: setattr(type(thing), "mask", new),
    }


@place
def attribute_that_is_tried(v: Any) -> Program:
    thing: Any = Thing()

    def step(use: Any, a: Any) -> Any:
        try:
            value = thing.mask
        except AttributeError:
            value = v
        return use(value, a)

    return step, {"added": lambda new: setattr(thing, "mask", new)}


@place
def attributes_by_vars(v: Any) -> Program:
    thing: Any = Thing()
    thing.value = v

    def step(use: Any, a: Any) -> Any:
        return use(vars(thing)["value"], a) + use(thing.__dict__["value"], a)

    return step, {"assigned": lambda new: setattr(thing, "value", new)}


@place
def attribute_that_a_method_makes(v: Any) -> Program:
    class Config:
        def __init__(self) -> None:
            self.held = {"w": v}

        def __getattr__(self, name: str) -> Any:
            return self.held[name]

    thing = Config()

    def step(use: Any, a: Any) -> Any:
        return use(thing.w, a)

    return step, {
        "element": lambda new: thing.held.update(w=new),
        "hidden": lambda new: setattr(thing, "w", new),
        "of the class": lambda new: setattr(Config, "w", new),
    }


@place
def slot(v: Any) -> Program:
    class Config:
        __slots__ = ("inner", "value")

    thing: Any = Config()
    thing.value, thing.inner = v, {"w": v}

    def step(use: Any, a: Any) -> Any:
        return use(thing.value, a) + use(thing.inner["w"], a)

    return step, {
        "assigned": lambda new: setattr(thing, "value", new),
        "element": lambda new: thing.inner.update(w=new),
    }


@place
def data_class(v: Any) -> Program:
    @dataclass
    class Inner:
        w: Any

    @dataclass
    class Config:
        inner: Inner
        other: int = 1

    thing = Config(Inner(v))

    def step(use: Any, a: Any) -> Any:
        return use(thing.inner.w, a)

    return step, {
        "assigned": lambda new: setattr(thing.inner, "w", new),
        "replaced": lambda new: setattr(thing, "inner", Inner(new)),
    }


@place
def member_of_an_enumeration(v: Any) -> Program:
    class Choice(enum.Enum):
        FIRST = 1
        SECOND = 2

    thing = {"choice": Choice.FIRST, Choice.FIRST: v, Choice.SECOND: None}

    def step(use: Any, a: Any) -> Any:
        return use(thing[thing["choice"]], a)

    def change(new: Any) -> None:
        thing[Choice.SECOND] = new
        thing["choice"] = Choice.SECOND

    return step, {"replaced": change}


@place
def value_of_an_enumeration(v: Any) -> Program:
    class Choice(enum.Enum):
        FIRST = 1

    Choice.FIRST._value_ = v

    def step(use: Any, a: Any) -> Any:
        return use(Choice.FIRST.value, a)

    return step, {"assigned": lambda new: setattr(Choice.FIRST, "_value_", new)}


@place
def python_module(v: Any) -> Program:
    conf: Any = types.ModuleType("conf")
    conf.value, conf.inner = v, Thing()
    conf.inner.w = v

    def step(use: Any, a: Any) -> Any:
        return use(conf.value, a) + use(conf.inner.w, a)

    return step, {
        "assigned": lambda new: setattr(conf, "value", new),
        "inner": lambda new: setattr(conf.inner, "w", new),
    }


# ---- AutoCalc's objects --------------------------------------------------------------


@place
def settings_of_a_module(v: Any) -> Program:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cfg = {"a": {"b": v}}

        def forward(self, use: Any, a: Any) -> Any:
            return use(self.cfg["a"]["b"], a)

    net = Net()
    return net, {
        "element": lambda new: net.cfg["a"].update(b=new),
        "container": lambda new: setattr(net, "cfg", {"a": {"b": new}}),
    }


@place
def attribute_of_a_module_inside(v: Any) -> Program:
    class Part(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.value = v

        def forward(self, use: Any, a: Any) -> Any:
            return use(self.value, a)

    parts = nn.Sequential(nn.ReLU(), Part())
    part: Any = parts[1]

    def step(use: Any, a: Any) -> Any:
        return parts[1](use, parts[0](a))

    return step, {"assigned": lambda new: setattr(part, "value", new)}


@place
def forward_of_a_module(v: Any) -> Program:
    class Net(nn.Module):
        def forward(self, use: Any, a: Any) -> Any:
            return use(v, a)

    net: Any = Net()
    return net, {
        "of the instance": lambda n: setattr(net, "forward", lambda use, a: use(n, a)),
        "of the class": lambda n: setattr(Net, "forward", lambda _, u, a: u(n, a)),
    }


@place
def settings_of_an_optimizer(v: Any) -> Program:
    weight = ac.ones(3, requires_grad=True)
    sgd = ac.optim.SGD([weight], lr=0.1)
    sgd.param_groups[0]["value"] = v

    def step(use: Any, a: Any) -> Any:
        value = sgd.param_groups[0]["value"]
        return use(value, a)

    return step, {"assigned": lambda n: sgd.param_groups[0].update(value=n)}


@place
def hook(v: Any) -> Program:
    layer: Any = nn.Identity()
    then: list[Any] = [v]
    layer.register_forward_hook(lambda _, args, out: (out[0], then[0]))

    def step(use: Any, a: Any) -> Any:
        out, value = layer((a, None))
        return use(value, out)

    def add(new: Any) -> None:
        layer.register_forward_hook(lambda _, args, out: (out[0], new))

    return step, {"element": lambda new: then.__setitem__(0, new), "added": add}


# ---- what Python's library holds -----------------------------------------------------


@place
def partial(v: Any) -> Program:
    def get(value: Any) -> Any:
        return value["w"]

    kept = {"w": v}
    bound = functools.partial(get, kept)
    return lambda use, a: use(bound(), a), {"element": lambda n: kept.update(w=n)}


@place
def cached(v: Any) -> Program:
    there = {"w": v}

    @functools.cache
    def get() -> Any:
        return there["w"]

    def change(new: Any) -> None:
        there["w"] = new
        get.cache_clear()

    return lambda use, a: use(get(), a), {"cleared": change}


@place
def context_variable(v: Any) -> Program:
    var: contextvars.ContextVar[Any] = contextvars.ContextVar("var", default=v)
    return lambda use, a: use(var.get(), a), {"set": var.set}


@place
def name_space(v: Any) -> Program:
    space = types.SimpleNamespace(inner=types.SimpleNamespace(w=v))
    return lambda use, a: use(space.inner.w, a), {
        "assigned": lambda new: setattr(space.inner, "w", new)
    }


@place
def weak_reference(v: Any) -> Program:
    thing: Any = Thing()
    thing.value = v
    seen: Any = weakref.ref(thing)

    def step(use: Any, a: Any) -> Any:
        return use(seen().value, a)

    return step, {"assigned": lambda new: setattr(thing, "value", new)}


# ---- the programs --------------------------------------------------------------------


def programs() -> Iterator[Any]:
    """Yield all programs, of which the fast tests run every third."""
    number = 0
    for name, make in PLACES.items():
        for how in make(None)[1]:
            for kind in KINDS:
                number += 1
                marks = [pytest.mark.slow] if number % 3 else []
                identity = f"{name}-{kind}-{how}"
                yield pytest.param(name, kind, how, id=identity, marks=marks)


def same_as_eager(run: Any, eager: Any) -> None:
    """Check a call, which may also be refused with its line."""
    try:
        found = run(x)
    except CompileError as error:
        assert ".py:" in str(error)  # noqa: PT017  it may be raised
    else:
        np.testing.assert_allclose(found.numpy(), eager(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize(("name", "kind", "how"), list(programs()))
def test_no_value_is_stale(name: str, kind: str, how: str) -> None:
    use, first, then = KINDS[kind]
    step, changes = PLACES[name](first())
    run = ac.compile(lambda a: step(use, a))
    with ac.no_grad():
        for _ in range(3):
            assert run(x).tolist() == step(use, x).tolist()
        assert len(run.programs) == 1
        changes[how](then())
        for _ in range(2):
            same_as_eager(run, lambda a: step(use, a))


def test_there_are_many_programs() -> None:
    assert len(list(programs())) >= 700
