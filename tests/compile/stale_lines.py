# SPDX-License-Identifier: MIT
"""Steps that once went on with an old value, or lost what they changed.

A program is made twice, for eager and for compiled code: a step of one tensor, and what
changes between its calls.  A step that draws or counts may be refused.
"""

from __future__ import annotations

import collections
import functools
import gc
import os
import random
import types
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

import autocalc as ac
from autocalc import nn, optim

Made = tuple[Callable[..., Any], Callable[[], object]]

#: By the name of a line, its programs.
LINES: dict[str, list[Callable[[], Made]]] = {}

#: Those that are refused: a replay cannot do what they do.
REFUSED: set[Callable[[], Made]] = set()


def line(name: str) -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Add a program to a line."""

    def add(make: Callable[[], Made]) -> Callable[[], Made]:
        LINES.setdefault(name, []).append(make)
        return make

    return add


def refused(make: Callable[[], Made]) -> Callable[[], Made]:
    REFUSED.add(make)
    return make


def nothing() -> None:
    pass


# ---- 1 -------------------------------------------------------------------------------

RULES: dict[str, Callable[[Any, float], Any]] = {
    "add": lambda p, lr: p.add_(p.grad, alpha=-lr),
    "decay": lambda p, lr: p.mul_(1 - lr * 0.1),
    "minus": lambda p, lr: p.sub_(p.grad * lr),
}


def rate_of_a_schedule(rule: str) -> Made:
    ac.manual_seed(0)
    w = nn.Parameter(ac.ones(3))
    sgd = optim.SGD([w], lr=0.1)
    schedule = optim.lr_scheduler.StepLR(sgd, 1, 0.5)

    def step(a: Any) -> Any:
        w.grad = None
        (w * a).sum().backward()
        with ac.no_grad():
            RULES[rule](w, sgd.param_groups[0]["lr"])
        return w * 1.0

    return step, schedule.step


def rate_that_scales_the_loss() -> Made:
    w = nn.Parameter(ac.ones(3))
    sgd = optim.SGD([w], lr=0.1)
    schedule = optim.lr_scheduler.ExponentialLR(sgd, 0.5)

    def step(a: Any) -> Any:
        return ((w * a).sum() * sgd.param_groups[0]["lr"]).detach()

    return step, schedule.step


LINES["1 a learning rate that the step reads itself"] = [
    *(functools.partial(rate_of_a_schedule, rule) for rule in RULES),
    rate_that_scales_the_loss,
]

# ---- 2 -------------------------------------------------------------------------------


class Open(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Configured(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cfg = {"a": {"b": 2.0}}

    def forward(self, a: Any) -> Any:
        return a * self.cfg["a"]["b"]


def stored(thing: Any, *keys: Any, new: Any = 5.0) -> Made:
    """Return a program that reads an element, and puts another one there."""

    def step(a: Any) -> Any:
        found = thing
        for key in keys:
            found = found[key]
        return a * found

    def change() -> None:
        found = thing
        for key in keys[:-1]:
            found = found[key]
        found[keys[-1]] = new

    return step, change


def module_with_settings() -> Made:
    model = Configured()
    return model, lambda: model.cfg["a"].update(b=7.0)


def attributes_five_deep() -> Made:
    name = types.SimpleNamespace
    c = name(a=name(b=name(c=name(d=name(e=2.0)))))
    return lambda a: a * c.a.b.c.d.e, lambda: setattr(c.a.b.c.d, "e", 9.0)


def attribute_dict() -> Made:
    c: Any = Open(a=Open(b=2.0))
    return lambda a: a * c.a.b, lambda: c["a"].update(b=3.0)


def modules_in_lists() -> Made:
    first, then = nn.Tanh(), nn.Sigmoid()
    bank: Any = {"a": [first]}
    return lambda a: bank["a"][0](a) * 1.0, lambda: bank["a"].__setitem__(0, then)


LINES["2 nested containers"] = [
    lambda: stored({"loss": {"w": 2.0}}, "loss", "w"),
    lambda: stored([[1.0, [2.0]]], 0, 1, 0),
    lambda: stored([{"w": 2.0}], 0, "w"),
    lambda: stored(OrderedDict(a=OrderedDict(b=2.0)), "a", "b"),
    lambda: stored({"a": [ac.ones(3)]}, "a", 0, new=ac.ones(3) * 4),
    lambda: stored([0.0] * 299 + [2.0], 299),
    lambda: stored({i: float(i) for i in range(300)}, 299),
    module_with_settings,
    attributes_five_deep,
    attribute_dict,
    modules_in_lists,
]

# ---- 3 -------------------------------------------------------------------------------


@line("3 attributes of Python modules")
def attribute_of_a_module() -> Made:
    conf: Any = types.ModuleType("conf")
    conf.W = 2.0
    return lambda a: a * conf.W, lambda: setattr(conf, "W", 3.0)


@line("3 attributes of Python modules")
def attribute_of_a_class_of_a_module() -> Made:
    conf: Any = types.ModuleType("conf")
    conf.C = type("C", (), {"s": 2.0})
    return lambda a: a * conf.C.s, lambda: setattr(conf.C, "s", 3.0)


# ---- 4 -------------------------------------------------------------------------------

_FOUR = "4 attributes of instances that hide those of classes"


class Scaled(nn.Module):
    scale = 1.0
    mask: Any = None

    def forward(self, a: Any) -> Any:
        a = a * self.scale if self.mask is None else a * self.mask
        if hasattr(self, "extra"):
            a = a - 1.0
        return self.last(a) * (1 + len(self.__dict__.get("texts", ())))

    def last(self, a: Any) -> Any:
        return a + 1.0


def changed_module(change: Callable[[Any], object]) -> Callable[[], Made]:
    def make() -> Made:
        model: Any = type("Own", (Scaled,), {})()
        return model, lambda: change(model)

    return make


LINES[_FOUR] = [
    changed_module(lambda m: setattr(m, "scale", 3.0)),
    changed_module(lambda m: setattr(m, "mask", ac.tensor([0.0, 1.0, 0.0]))),
    changed_module(lambda m: setattr(m, "extra", 1)),
    changed_module(lambda m: setattr(m, "texts", "abc")),
    changed_module(lambda m: setattr(m, "last", lambda a: a * 5.0)),
    changed_module(lambda m: setattr(type(m), "last", lambda self, a: a * 5.0)),
    changed_module(lambda m: setattr(type(m), "scale", 6.0)),
]

# ---- 5 -------------------------------------------------------------------------------


@line("5 hooks that are removed")
def removed_hook() -> Made:
    layer = nn.Tanh()
    hook = layer.register_forward_hook(lambda m, a, out: out * 3.0)
    return layer, hook.remove


@line("5 hooks that are removed")
def removed_hook_of_a_tensor() -> Made:
    w = nn.Parameter(ac.ones(3))
    hook = w.register_hook(lambda g: g * 3.0)

    def step(a: Any) -> Any:
        w.grad = None
        (w * a).sum().backward()
        return w.grad * 1.0  # type: ignore[operator]

    return step, hook.remove


@line("5 hooks that are removed")
def added_hook() -> Made:
    layer = nn.Tanh()
    return layer, lambda: layer.register_forward_pre_hook(lambda m, a: a[0] * 2.0)


# ---- 8 -------------------------------------------------------------------------------

_EIGHT = "8 random decisions of Python and NumPy"


def drawing(draw: Callable[[], Any]) -> Callable[[], Made]:
    @refused
    def make() -> Made:
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        return lambda a: a * 2.0 if draw() else a - 3.0, nothing

    return make


GENERATOR = np.random.default_rng(0)

LINES[_EIGHT] = [
    drawing(lambda: random.random() > -1.0),
    drawing(lambda: random.choice([1, 1, 1])),
    drawing(lambda: random.randint(1, 2)),
    drawing(lambda: np.random.rand() > -1.0),  # noqa: NPY002
    drawing(lambda: GENERATOR.random() > -1.0),
]

# ---- 9 -------------------------------------------------------------------------------

_NINE = "9 what a tensor is asked for that no kernel uses"


@line(_NINE)
def wants_a_gradient() -> Made:
    p = ac.ones(2, requires_grad=True)
    return lambda a: a * 2 if p.requires_grad else a - 1, lambda: p.requires_grad_(
        False
    )


@line(_NINE)
def has_a_gradient() -> Made:
    p = ac.ones(3, requires_grad=True)
    return lambda a: a * 2 if p.grad is None else a - 1, lambda: p.sum().backward()


# ---- 10 ------------------------------------------------------------------------------

_TEN = "10 values of NumPy"


def of_an_array(use: Callable[[Any, Any], Any], dtype: Any = np.float64) -> Any:
    def make() -> Made:
        b = np.array([2, 1, 0], dtype)
        return lambda a: use(a, b), lambda: b.__setitem__(slice(None), [1, 1, 2])

    return make


LINES[_TEN] = [
    of_an_array(lambda a, b: a * float(b[0])),
    of_an_array(lambda a, b: a[b], np.int64),
    of_an_array(lambda a, b: a + ac.tensor(b)),
    of_an_array(lambda a, b: a * b[0].item()),
    of_an_array(lambda a, b: a * b.tolist()[2]),
    of_an_array(lambda a, b: a * 2 if b.sum() > 3 else a * int(b.max() + b[1])),
    of_an_array(lambda a, b: a * bytes(memoryview(b))[7]),
]

# ---- 11 ------------------------------------------------------------------------------

_ELEVEN = "11 values that calls and objects lead to"
VARIABLE: ContextVar[float] = ContextVar("VARIABLE", default=2.0)
G = 2.0


@line(_ELEVEN)
def in_a_partial() -> Made:
    kept = [2.0]
    get = functools.partial(lambda kept: kept[0], kept)
    return lambda a: a * get(), lambda: kept.__setitem__(0, 5.0)


@line(_ELEVEN)
def in_defaults() -> Made:
    def get(v: float = 2.0) -> float:
        return v

    return lambda a: a * get(), lambda: setattr(get, "__defaults__", (5.0,))


@line(_ELEVEN)
def in_an_attribute_of_a_function() -> Made:
    def get() -> Any:
        return get.v  # type: ignore[attr-defined]

    get.v = 2.0  # type: ignore[attr-defined]
    return lambda a: a * get(), lambda: setattr(get, "v", 5.0)


@line(_ELEVEN)
def in_a_cache() -> Made:
    kept = [2.0]

    @functools.lru_cache
    def get() -> float:
        return kept[0]

    def change() -> None:
        kept[0] = 5.0
        get.cache_clear()

    return lambda a: a * get(), change


@line(_ELEVEN)
def in_a_context() -> Made:
    VARIABLE.set(2.0)
    return lambda a: a * VARIABLE.get(), lambda: VARIABLE.set(5.0)


@line(_ELEVEN)
def in_the_environment() -> Made:
    os.environ["A_RATE"] = "2"
    return lambda a: a * float(os.environ["A_RATE"]), lambda: os.environ.update(
        A_RATE="5"
    )


@line(_ELEVEN)
def by_vars() -> Made:
    k = types.SimpleNamespace(v=2.0)
    return lambda a: a * vars(k)["v"], lambda: setattr(k, "v", 5.0)


@line(_ELEVEN)
def by_globals() -> Made:
    globals()["G"] = 2.0
    return lambda a: a * globals()["G"], lambda: globals().update(G=5.0)


@line(_ELEVEN)
def by_getattr() -> Made:
    class Late:
        kept: ClassVar = {"v": 2.0}

        def __getattr__(self, name: str) -> Any:
            return self.kept[name]

    k = Late()
    return lambda a: a * k.v, lambda: k.kept.update(v=5.0)


@line(_ELEVEN)
def in_a_deque() -> Made:
    k = deque([2.0])
    return lambda a: a * k[0], lambda: k.appendleft(5.0)


@line(_ELEVEN)
def in_an_array() -> Made:
    k = array("d", [2.0])
    return lambda a: a * k[0], lambda: k.__setitem__(0, 5.0)


@line(_ELEVEN)
def in_bytes() -> Made:
    k = bytearray([2])
    return lambda a: a * memoryview(k)[0], lambda: k.__setitem__(0, 5)


@line(_ELEVEN)
def in_a_list_of_ones_own() -> Made:
    k = type("Own", (list,), {})([2.0])
    return lambda a: a * k[0], lambda: k.__setitem__(0, 5.0)


@line(_ELEVEN)
def another_class() -> Made:
    class A:
        v = 2.0

    class B:
        v = 5.0

    k = A()
    return lambda a: a * k.v, lambda: setattr(k, "__class__", B)


@line(_ELEVEN)
def one_of_two_closures() -> Made:
    def make(v: float) -> Any:
        def get() -> float:
            return v

        def put(new: float) -> None:
            nonlocal v
            v = new

        return get, put

    (one, _), (two, put) = make(2.0), make(2.0)
    return lambda a: a * one() + two(), lambda: put(5.0)


# ---- 12 ------------------------------------------------------------------------------

_TWELVE = "12 effects"


@line(_TWELVE)
@refused
def appended_to_a_deque() -> Made:
    kept: deque[float] = deque()

    def step(a: Any) -> Any:
        kept.append(1.0)
        return a * 2

    return step, nothing


@line(_TWELVE)
@refused
def counted_in_an_array() -> Made:
    counts = np.zeros(1)

    def step(a: Any) -> Any:
        counts[0] += 1
        return a * 2

    return step, nothing


@line(_TWELVE)
@refused
def counted_in_a_counter() -> Made:
    counts = collections.Counter({"calls": 0})

    def step(a: Any) -> Any:
        counts["calls"] += 1
        return a * 2

    return step, nothing


# ---- 13 ------------------------------------------------------------------------------


@line("13 an alias of frozen memory")
def alias_of_frozen_memory() -> Made:
    w = nn.Parameter(ac.ones(3), requires_grad=False)
    gc.collect()
    gc.freeze()
    alias = w.data

    def change() -> None:
        w.data = ac.ones(3) * 4
        alias.add_(1.0)

    return lambda a: a * w, change
