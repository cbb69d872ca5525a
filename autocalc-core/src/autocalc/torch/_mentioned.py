# SPDX-License-Identifier: MIT
"""Names of PyTorch that programs mention and AutoCalc does not have.

A library may import ``torch.fx.GraphModule`` for a file that nobody calls. Such a name
is a class here.  It can be imported, inherited from and used with `isinstance`.  It
raises an `AbsentError` when it is called.  Names and reasons come from
`autocalc._absent`; modules, which that table lacks, are in `MODULES`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn, cast

from autocalc import _absent, nn
from autocalc._tensor.absent_dtypes import absent_dtype
from autocalc.errors import AbsentError
from autocalc.torch import _report
from autocalc.torch._modules import (
    NOTHING_TO_DO,
    RETURN_THEIR_FUNCTION,
    is_module,
    reason_of,
)


class Mentioned(type):
    """The type of classes that stand for a name; calling one of them is an error."""

    _why: str

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: ARG002
        _report.note(f"{cls._why.split(' ', 1)[0]} (used)")
        raise AbsentError(cls._why)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(cls.__module__, f"{cls.__qualname__}.{name}", cls._why)

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __getitem__(cls, item: Any) -> Any:
        return cls  # ``Mentioned[int]``, for annotations

    def __iter__(cls) -> NoReturn:  # else Python would read items forever
        raise AbsentError(cls._why)


#: The base class of a name that ends like this.
_BASES = {"Error": RuntimeError, "Warning": UserWarning, "Module": nn.Module}


@functools.cache
def stand_in(place: str, name: str, why: str) -> Any:
    """Return the class that stands for a name; the same class each time."""
    simple = name.rpartition(".")[2]
    bases = tuple(base for end, base in _BASES.items() if simple.endswith(end))
    parts = {"__module__": place, "__qualname__": name, "_why": why}
    return Mentioned(simple, bases, parts)


def _text(path: str, reason: str) -> str:
    return f"{path} is not in AutoCalc: {reason}"


def returns_its_function(function: Any = None, *_: Any, **__: Any) -> Any:
    """Decorate a function, with or without arguments, and return it unchanged."""
    return function if callable(function) else returns_its_function


class _Module(ModuleType):
    """A module that has every name that is requested."""

    def __getattr__(self, name: str) -> Any:
        return names_of(self.__name__)(name)


def names_of(module: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module that has every requested name."""
    reason = reason_of(module) or ""

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        path = f"{module}.{name}"
        if path in RETURN_THEIR_FUNCTION:
            return returns_its_function
        if is_module(path) and (found := _module(path)) is not None:
            return found
        _report.note(path)
        return stand_in(module, name, _text(path, reason))

    return __getattr__


class _Loader:
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name, reason_of(spec.name))

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty: its names are made on request."""


def spec(fullname: str) -> ModuleSpec | None:
    """Return the spec of the module at a path, if programs mention it."""
    if reason_of(fullname) is None and fullname not in NOTHING_TO_DO:
        return None
    return ModuleSpec(fullname, cast("Any", _Loader()), is_package=True)


def _answer(error: AttributeError, place: str, name: str) -> Any:
    """Return the stand-in for a name that a module of AutoCalc does not have."""
    if name.startswith("__") and name not in ("__config__", "__future__"):
        raise error
    path = f"torch{place[len('autocalc') :]}.{name}"
    if path in RETURN_THEIR_FUNCTION:
        return returns_its_function
    module = _module(path)
    if module is not None:
        return module
    dtype = absent_dtype(name) if place == "autocalc" else None
    if dtype is not None:
        return dtype
    _report.note(path)
    if place == "autocalc.Tensor":
        raise error
    group = _absent.groups_by_name(_absent.SAME_PLACE.get(place, place)).get(name)
    if group is None:
        raise error
    return stand_in(place, name, _text(path, str(error).partition(": ")[2]))


def _module(path: str) -> ModuleType | None:
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not path.startswith(error.name):
            raise
        return None


def install() -> None:
    """Make modules of AutoCalc return stand-ins for names that they do not have."""
    _absent.stand_in_by(_answer)
