# SPDX-License-Identifier: MIT
"""Steps that read settings, weak references, replaced methods, and what tensors tell.

A program is made twice, for eager and for compiled code: a step of one tensor, and what
changes between its calls.  What a program sets for the process is put back by `undo`.
"""

from __future__ import annotations

import builtins
import decimal
import importlib
import sys
import types
import typing
import warnings
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import autocalc as ac
from autocalc import nn, optim
from autocalc.nn import functional

Made = tuple[Callable[..., Any], Callable[[], object]]

SETTINGS: dict[str, Callable[[], Made]] = {}

#: Those that no guard can see: they are refused.
UNSEEN: dict[str, Callable[[], Made]] = {}

_REPLACED: list[tuple[Any, str, Any]] = []


def setting(make: Callable[[], Made]) -> Callable[[], Made]:
    SETTINGS[make.__name__] = make
    return make


def unseen(make: Callable[[], Made]) -> Callable[[], Made]:
    UNSEEN[make.__name__] = make
    return make


def undo() -> None:
    """Put back what programs have set."""
    while _REPLACED:
        setattr(*_REPLACED.pop())
    np.seterr(all="warn", under="ignore")  # as NumPy begins
    np.set_printoptions(precision=8)
    decimal.getcontext().prec = 28


def nothing() -> None:
    pass


# ---- functions and methods that are replaced -----------------------------------------


def replacing(where: Any, name: str, new: Any) -> Callable[[], None]:
    def change() -> None:
        _REPLACED.append((where, name, getattr(where, name)))
        setattr(where, name, new)

    return change


def trained(step: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    w = nn.Parameter(ac.ones(3))
    sgd = optim.SGD([w], lr=0.1)

    def run(a: Any) -> Any:
        sgd.zero_grad()
        (w * a).sum().backward()
        step(w, sgd)
        return w.detach() * 1

    return run


REPLACED: dict[str, tuple[Any, str, Any, Callable[[], Any]]] = {
    "a built-in": (builtins, "round", lambda x: 7, lambda: lambda a: a * round(2.4)),
    "a method": (ac.Tensor, "exp", lambda x: x * 9, lambda: lambda a: a.exp() + 1),
    "an operator": (ac.Tensor, "__mod__", lambda x, y: x + 9, lambda: lambda a: a % 2),
    "a function": (ac, "exp", lambda x: x * 9, lambda: lambda a: ac.exp(a) + 1),
    "of nn.functional": (
        *(functional, "relu", lambda x: x * 9),
        lambda: lambda a: functional.relu(a) + 1,
    ),
    "in a module": (*(functional, "relu", lambda x, inplace=False: x * 9), nn.ReLU),
    "a module's call": (nn.Module, "__call__", lambda m, x: x * 9, nn.ReLU),
    "a module's forward": (nn.ReLU, "forward", lambda m, x: x * 9, nn.ReLU),
    "an optimizer's step": (
        *(optim.Optimizer, "step", lambda opt: None),
        lambda: trained(lambda w, opt: opt.step()),
    ),
    "an optimizer's method": (
        *(optim.Optimizer, "zero_grad", lambda opt: opt.param_groups),
        lambda: trained(lambda w, opt: opt.step()),
    ),
    "a utility": (
        *(nn.utils, "clip_grad_value_", lambda *_: None),
        lambda: trained(
            lambda w, opt: (nn.utils.clip_grad_value_([w], 0.1), opt.step())[1]
        ),
    ),
}


def replaced(name: str) -> Made:
    where, key, new, make = REPLACED[name]
    return make(), replacing(where, key, new)


for _name in REPLACED:
    SETTINGS[f"replaced: {_name}"] = lambda name=_name: replaced(name)  # type: ignore[misc]


@setting
def backward_of_a_function() -> Made:
    class Double(ac.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    w = nn.Parameter(ac.ones(3))

    def step(a: Any) -> Any:
        w.grad = None
        Double.apply(w * a).sum().backward()
        return w.grad * 1  # type: ignore[operator]  # backward made it

    new = staticmethod(lambda ctx, grad: grad * 7)
    return step, lambda: setattr(Double, "backward", new)


# ---- settings of the process ---------------------------------------------------------


@setting
def errors_of_numpy() -> Made:
    zeros = np.zeros(1)
    np.seterr(all="ignore")

    def step(a: Any) -> Any:
        try:
            zeros / zeros
        except FloatingPointError:
            return a * 5
        return a * 2

    return step, lambda: np.seterr(all="raise")


@setting
def print_options_of_numpy() -> Made:
    third = np.ones(1) / 3
    return lambda a: a * len(str(third)), lambda: np.set_printoptions(precision=2)


@setting
def precision_of_decimals() -> Made:
    def change() -> None:
        decimal.getcontext().prec = 1

    return lambda a: a * float(decimal.Decimal(1) / decimal.Decimal(3)), change


@setting
def filters_of_warnings() -> Made:
    def step(a: Any) -> Any:
        try:
            warnings.warn("it warns", UserWarning, stacklevel=1)
        except UserWarning:
            return a * 5
        return a * 2

    warnings.simplefilter("ignore")
    return step, lambda: warnings.simplefilter("error")


@setting
def seed_of_a_generator() -> Made:
    generator = ac.Generator()
    generator.manual_seed(3)
    return lambda a: a * generator.initial_seed(), lambda: generator.manual_seed(7)


@setting
def scale_of_a_grad_scaler() -> Made:
    scaler = ac.amp.GradScaler("cpu", init_scale=4.0)
    return lambda a: scaler.scale(a) + 1, lambda: scaler.update(16.0)


# ---- names and modules ---------------------------------------------------------------


@setting
def name_of_a_class() -> Made:
    class Own:
        pass

    own = Own()
    return lambda a: a * len(type(own).__name__), lambda: setattr(
        Own, "__name__", "New"
    )


@setting
def name_by_its_attribute() -> Made:
    class Own:
        pass

    return lambda a: a * len(Own.__qualname__), lambda: setattr(
        Own, "__qualname__", "New"
    )


@setting
def type_hints() -> Made:
    class Own:
        rate: int

    def step(a: Any) -> Any:
        return a * (2.0 if typing.get_type_hints(Own)["rate"] is int else 5.0)

    Own.__annotations__["rate"] = int
    return step, lambda: Own.__annotations__.update(rate=float)


def put_module(rate: float) -> None:
    module: Any = types.ModuleType("autocalc_test_rates")
    module.rate = rate
    sys.modules["autocalc_test_rates"] = module


@setting
def module_that_is_imported_by_a_variable() -> Made:
    put_module(2.0)
    name = "autocalc_test_rates"
    return lambda a: a * importlib.import_module(name).rate, lambda: put_module(5.0)


@unseen
def module_that_import_finds() -> Made:
    put_module(2.0)
    name = "autocalc_test_rates"
    return lambda a: a * __import__(name).rate, lambda: put_module(5.0)


@setting
def names_in_eval() -> Made:
    own = SimpleNamespace(rate=2.0)

    def step(a: Any, of: Any = own) -> Any:
        return a * eval("of.rate + 0")

    return step, lambda: setattr(own, "rate", 5.0)


# ---- objects that only weak references lead to ---------------------------------------


class Rate:
    value = 2.0

    def get(self) -> float:
        return self.value


@setting
def weak_reference() -> Made:
    kept = [Rate()]
    seen = weakref.ref(kept[0])

    def step(a: Any) -> Any:
        rate = seen()
        return a * 5 if rate is None else a * rate.value

    return step, kept.clear


@setting
def weak_method() -> Made:
    kept = [Rate()]
    seen = weakref.WeakMethod(kept[0].get)

    def step(a: Any) -> Any:
        get = seen()
        return a * 5 if get is None else a * get()

    return step, kept.clear


@setting
def weak_containers() -> Made:
    kept = [Rate(), Rate()]
    values = weakref.WeakValueDictionary(enumerate(kept))
    keys = weakref.WeakKeyDictionary({kept[0]: 2.0, kept[1]: 3.0})
    both = weakref.WeakSet(kept)

    def step(a: Any) -> Any:
        return (
            a * (sum(x.value for x in values.values()) + sum(keys.values())) * len(both)
        )

    return step, kept.pop


@setting
def weakly_held_module() -> Made:
    ac.manual_seed(0)
    kept = [nn.Linear(3, 3)]
    seen = weakref.ref(kept[0])

    def step(a: Any) -> Any:
        layer = seen()
        return a * 5 if layer is None else layer(a).detach()

    return step, kept.clear


@setting
def parent_of_an_object() -> Made:
    parent = Rate()
    child = SimpleNamespace(parent=weakref.ref(parent))
    return lambda a: a * child.parent().value, lambda: setattr(parent, "value", 5.0)


@unseen
def weakly_held_tensor() -> Made:
    kept = [ac.ones(3)]
    seen = weakref.ref(kept[0])

    def step(a: Any) -> Any:
        found = seen()
        return a * 5 if found is None else a + found

    return step, kept.clear


# ---- what tensors and generators tell ------------------------------------------------

TEXTS: dict[str, Callable[[Any], str]] = {
    "str": str,
    "repr": repr,
    "an f-string": lambda t: f"{t}",
    "format": "{}".format,
    "percent": lambda t: "%s" % t,  # noqa: UP031  it is one of the ways
    "a list": lambda t: str([t]),
}


def text(name: str) -> Made:
    t, write = nn.Parameter(ac.ones(3)), TEXTS[name]
    return lambda a: a * len(write(t)), nothing


for _name in TEXTS:
    UNSEEN[f"text by {_name}"] = lambda name=_name: text(name)  # type: ignore[misc]


@unseen
def address_of_a_tensor() -> Made:
    t = ac.ones(6)[1:]
    return lambda a: a * t.storage_offset(), nothing


@unseen
def state_of_the_generator() -> Made:
    return lambda a: a * len(ac.get_rng_state()), nothing


@setting
def strides_of_a_tensor() -> Made:
    t = ac.ones(3, 3)
    return lambda a: a * t.stride(0), lambda: setattr(t, "data", ac.ones(3, 3).t())


@setting
def bytes_of_an_element() -> Made:
    t = ac.ones(3)
    return lambda a: a * t.element_size(), lambda: setattr(
        t, "data", ac.ones(3, dtype=ac.float64)
    )


def scaled(get: Callable[[Any], float]) -> Made:
    ac.manual_seed(0)
    layer: Any = nn.Linear(3, 3)
    sgd = optim.SGD(layer.parameters(), lr=0.1)
    for p in layer.parameters():
        p.scale = 1.0

    def step(a: Any) -> Any:
        sgd.zero_grad()
        layer(a).square().sum().backward()
        for p in layer.parameters():
            p.grad.mul_(get(p))
        sgd.step()
        return layer.weight.detach() * 1

    return step, lambda: setattr(layer.weight, "scale", 0.1)


@setting
def attribute_of_each_parameter() -> Made:
    return scaled(lambda p: p.scale)  # type: ignore[no-any-return]  # it is a float


@setting
def attribute_that_some_parameters_get() -> Made:
    return scaled(lambda p: getattr(p, "factor", 1.0))
