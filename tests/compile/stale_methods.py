# SPDX-License-Identifier: MIT
"""Steps whose classes, functions or modules get another method, and what Python finds.

A program is made twice, for eager and for compiled code: a step of one tensor, and what
changes between its calls.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import autocalc as ac
from autocalc import nn

Made = tuple[Callable[..., Any], Callable[[], object]]

METHODS: dict[str, Callable[[], Made]] = {}


def method(make: Callable[[], Made]) -> Callable[[], Made]:
    METHODS[make.__name__] = make
    return make


# ---- special methods that a class gets later -----------------------------------------


def entered(thing: Any) -> Any:
    with thing as found:
        return found


def made_with(kind: Any, **attributes: Any) -> Any:
    made = kind()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made.rate


#: The bases of a class, its arguments, how a step uses an object, and the new method.
LATER: dict[str, tuple[Any, Any, Callable[[Any], Any], Any]] = {
    "__mul__": (float, 2.0, lambda x: x * 1.0, lambda x, y: 5.0),
    "__add__": (int, 2, lambda x: x + 0, lambda x, y: 5),
    "__lt__": (int, 2, lambda x: 2.0 if x < 3 else 5.0, lambda x, y: False),
    "__round__": (float, 2.4, round, lambda x, n=None: 5),
    "__float__": (float, 2.0, float, lambda x: 5.0),
    "__hash__": (int, 2, lambda x: {2: 3.0}.get(x, 7.0), lambda x: 9),
    "__iter__": (list, [1, 2], lambda x: sum(y for y in x), lambda x: iter([5])),
    "__reversed__": (
        list,
        [2.0, 3.0],
        lambda x: next(reversed(x)),
        lambda x: iter([5]),
    ),
    "__getitem__": (dict, {0: 2.0}, lambda x: x[0], lambda x, key: 5.0),
    "__contains__": (list, [1], lambda x: 2.0 if 1 in x else 5.0, lambda x, y: False),
    "__missing__": (dict, {0: 2.0}, lambda x: x[0] + 1, lambda x, key: 5.0),
    "upper": (str, "ab", lambda x: len(x.upper()), lambda x: "abcde"),
}


def later(name: str) -> Made:
    base, value, use, new = LATER[name]
    kind = type("Own", (base,), {})
    kept = kind(value)
    return lambda a: a * use(kept), lambda: setattr(kind, name, new)


for _name in LATER:
    METHODS[f"later: {_name}"] = functools.partial(later, _name)

#: How a step uses a class, and what the class gets.
OF_A_CLASS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "__new__": (lambda kind: kind().rate, lambda kind: SimpleNamespace(rate=5.0)),
    "__init__": (lambda kind: kind().rate, lambda x: setattr(x, "rate", 5.0)),
    "__setattr__": (
        lambda kind: made_with(kind, rate=3.0),
        lambda x, name, value: object.__setattr__(x, name, 5.0),
    ),
    "__getattribute__": (
        lambda kind: kind().rate,
        lambda x, name: 5.0 if name == "rate" else object.__getattribute__(x, name),
    ),
    "__class_getitem__": (lambda kind: kind[0], lambda kind, key: 5.0),
}


def of_a_class(name: str) -> Made:
    use, new = OF_A_CLASS[name]
    attributes = {"rate": 2.0, "__class_getitem__": classmethod(lambda kind, key: 2.0)}
    kind = type("Own", (), attributes)
    if name in {"__new__", "__class_getitem__"}:
        new = staticmethod(new) if name == "__new__" else classmethod(new)
    return lambda a: a * use(kind), lambda: setattr(kind, name, new)


for _name in OF_A_CLASS:
    METHODS[f"of a class: {_name}"] = functools.partial(of_a_class, _name)

#: How a step uses a class, and what its metaclass gets.
OF_A_METACLASS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "__call__": (lambda kind: kind().rate, lambda kind: SimpleNamespace(rate=5.0)),
    "__getitem__": (lambda kind: kind[0], lambda kind, key: 5.0),
    "__instancecheck__": (
        lambda kind: 5.0 if isinstance(3, kind) else 2.0,
        lambda kind, one: True,
    ),
    "__len__": (lambda kind: 2.0 if kind else 5.0, lambda kind: 0),
    "__eq__": (lambda kind: 5.0 if kind == 3 else 2.0, lambda kind, one: True),
}


def of_a_metaclass(name: str) -> Made:
    use, new = OF_A_METACLASS[name]
    meta = type("Meta", (type,), {"__getitem__": lambda kind, key: 2.0})
    kind = meta("Own", (), {"rate": 2.0})
    return lambda a: a * use(kind), lambda: setattr(meta, name, new)


for _name in OF_A_METACLASS:
    METHODS[f"of a metaclass: {_name}"] = functools.partial(of_a_metaclass, _name)


@method
def names_of_positions() -> Made:
    class Pair:
        __match_args__ = ("x",)

        def __init__(self) -> None:
            self.x, self.y = 2.0, 5.0

    def step(a: Any) -> Any:
        match pair:
            case Pair(found):
                return a * found
        return a

    pair = Pair()
    return step, lambda: setattr(Pair, "__match_args__", ("y",))


@method
def what_a_block_enters() -> Made:
    class Block:
        def __enter__(self) -> float:
            return 2.0

        def __exit__(self, *error: object) -> None:
            pass

    block = Block()
    return lambda a: a * entered(block), lambda: setattr(
        Block, "__enter__", lambda self: 5.0
    )


@method
def bases_of_a_class() -> Made:
    class One:
        pass

    class Two:
        pass

    class Own(One):
        pass

    return (lambda a: a * (5.0 if issubclass(Own, Two) else 2.0)), lambda: setattr(
        Own, "__bases__", (Two,)
    )


# ---- descriptors ---------------------------------------------------------------------


@method
def property_before_an_attribute() -> Made:
    class Own:
        pass

    own: Any = Own()
    own.rate = 2.0
    return lambda a: a * own.rate, lambda: setattr(Own, "rate", property(lambda x: 5.0))


@method
def object_that_becomes_a_descriptor() -> Made:
    class Rate:
        def __get__(self, thing: Any, kind: Any) -> float:
            return 2.0

    own: Any = type("Own", (), {"rate": Rate()})()
    own.__dict__["rate"] = 5.0
    return lambda a: a * own.rate, lambda: setattr(
        Rate, "__set__", lambda self, thing, value: None
    )


@method
def slot_by_its_descriptor() -> Made:
    class Own:
        __slots__ = ("rate",)

    own: Any = Own()
    own.rate = 2.0
    get = Own.rate.__get__  # type: ignore[attr-defined]  # the slot
    return lambda a: a * get(own), lambda: setattr(own, "rate", 5.0)


@method
def attribute_by_a_partial_function() -> Made:
    own = SimpleNamespace(rate=2.0)
    get = functools.partial(getattr, own, "rate")
    return lambda a: a * get(), lambda: setattr(own, "rate", 5.0)


@method
def attribute_by_a_bound_method() -> Made:
    own = SimpleNamespace(rate=2.0)
    get = own.__getattribute__
    return lambda a: a * get("rate"), lambda: setattr(own, "rate", 5.0)


@method
def attribute_that_a_text_names() -> Made:
    own = SimpleNamespace(rate=2)
    text = "{own." + "".join(["ra", "te"]) + "}"
    return lambda a: a * float(text.format(own=own)), lambda: setattr(own, "rate", 5)


# ---- functions and modules -----------------------------------------------------------


@method
def built_in_of_a_functions_own() -> Made:
    there: Any = {"__builtins__": {"len": len}, "__name__": "own"}
    exec("def step(a, known=[1, 2]): return a * len(known)", there)
    return there["step"], lambda: there["__builtins__"].update(len=lambda x: 5)


@method
def built_in_that_is_added() -> Made:
    there: Any = {"__builtins__": {"NameError": NameError}, "__name__": "own"}
    lines = "def step(a):", " try: return a * RATE", " except NameError: return a * 2.0"
    exec("\n".join(lines), there)
    return there["step"], lambda: there["__builtins__"].update(RATE=5.0)


@method
def cell_of_a_function() -> Made:
    rate = 2.0

    def get() -> float:
        return rate

    def change() -> None:
        nonlocal rate
        rate = 5.0

    known = inspect.getclosurevars
    return lambda a: a * known(get).nonlocals["rate"], change


@method
def function_that_modules_ask() -> Made:
    module: Any = types.ModuleType("autocalc_test_asked")
    module.__getattr__ = lambda name: 2.0
    return lambda a: a * module.rate, lambda: setattr(
        module, "__getattr__", lambda name: 5.0
    )


@method
def class_of_a_python_module() -> Made:
    class Own(types.ModuleType):
        @property
        def late(self) -> float:
            return 5.0

    module: Any = types.ModuleType("autocalc_test_own")
    module.__dict__["rate"] = 2.0
    get = operator.attrgetter("rate")

    def step(a: Any) -> Any:
        return a * (module.late if hasattr(module, "late") else get(module))

    return step, lambda: setattr(module, "__class__", Own)


@method
def property_of_a_python_module() -> Made:
    class Own(types.ModuleType):
        kept = 2.0

        @property
        def rate(self) -> float:
            return self.kept

    module = Own("autocalc_test_lazy")
    return lambda a: a * module.rate, lambda: setattr(module, "kept", 5.0)


@method
def part_of_a_package() -> Made:
    package: Any = types.ModuleType("autocalc_test_package")
    package.__path__ = []
    old, new = (types.ModuleType("autocalc_test_package.part") for _ in range(2))
    old.rate, new.rate = 2.0, 5.0  # type: ignore[attr-defined]
    package.part = old
    sys.modules |= {package.__name__: package, old.__name__: old}

    def step(a: Any) -> Any:
        import autocalc_test_package.part  # type: ignore[import-not-found]

        return a * autocalc_test_package.part.rate

    return step, lambda: setattr(package, "part", new)


# ---- tensors and modules -------------------------------------------------------------


class Scaled(ac.Tensor):
    """A tensor with a number that its methods read."""

    rate = 2.0

    def scaled(self) -> Any:
        return self * self.rate


@method
def attribute_of_a_class_of_tensors() -> Made:
    kind: Any = type("Own", (Scaled,), {})
    t = ac.ones(3).as_subclass(kind)
    return lambda a: a * t.scaled(), lambda: setattr(kind, "rate", 5.0)


@method
def class_of_a_layer() -> Made:
    model: Any = nn.Sequential(nn.ReLU())
    return lambda a: model(a - 2) * 1, lambda: setattr(model[0], "__class__", nn.Tanh)


@method
def hook_with_arguments() -> Made:
    kept, layer = [2.0], nn.Identity()
    layer.register_forward_hook(
        functools.partial(lambda kept, m, given, out: out * kept[0], kept)
    )
    return layer, lambda: kept.__setitem__(0, 5.0)


@method
def hook_of_a_tensor_with_arguments() -> Made:
    kept, w = [2.0], nn.Parameter(ac.ones(3))
    w.register_hook(functools.partial(lambda kept, grad: grad * kept[0], kept))

    def step(a: Any) -> Any:
        w.grad = None
        (w * a).sum().backward()
        return w.grad * 1  # type: ignore[operator]  # backward made it

    return step, lambda: kept.__setitem__(0, 5.0)


@method
def elements_of_a_frozen_set() -> Made:
    rate = type("Own", (), {"value": 2.0})()
    kept = SimpleNamespace(all=frozenset([rate]))
    return lambda a: a * sum(x.value for x in kept.all), lambda: setattr(
        rate, "value", 5.0
    )
