# SPDX-License-Identifier: MIT
"""Values in attributes, in AutoCalc's objects and in what Python's library holds."""

from __future__ import annotations

import contextvars
import enum
import functools
import types
import weakref
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.compile.captured_places import Program, Thing, place

import autocalc as ac
from autocalc import nn

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


@place
def attribute_of_a_tensor(v: Any) -> Program:
    w: Any = ac.ones(2)
    w.scale = v

    def step(use: Any, a: Any) -> Any:
        return use(w.scale, a)

    return step, {"assigned": lambda new: setattr(w, "scale", new)}


@place
def attribute_of_a_parameter_that_a_loop_finds(v: Any) -> Program:
    layer = nn.Linear(2, 2)
    for p in layer.parameters():
        p.scale = v  # type: ignore[attr-defined]  # an attribute of one's own

    def of(p: Any, name: str) -> Any:
        return getattr(p, name)

    def step(use: Any, a: Any) -> Any:
        for p in layer.parameters():
            a = use(of(p, "scale"), a)
        return a

    def change(new: Any) -> None:
        layer.bias.scale = new

    return step, {"assigned": change}
