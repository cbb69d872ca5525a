# SPDX-License-Identifier: MIT
"""Tells the code and objects of the user, of AutoCalc and of the library apart."""

from __future__ import annotations

import sys
import sysconfig
import types
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from autocalc._dispatch._callers import own_path

#: The files with methods that read properties of tensors, and the methods.
_TENSORS = ("_tensor/tensor.py", "_tensor/printing.py", "_methods/properties.py")
_GENERATORS = ("_tensor/generator.py", "_ops/random/rng_state.py")
_FILES = ("_io/files.py",)
_SIZES = frozenset(
    {"shape", "size", "numel", "nelement", "__len__", "nbytes", "stride",
     "is_contiguous"}
)  # fmt: skip
_ASKED = frozenset(
    {"requires_grad", "requires_grad_", "is_leaf", "grad", "retains_grad", "dtype",
     "ndim", "dim", "ndimension", "is_floating_point", "is_signed", "itemsize",
     "element_size"}
)  # fmt: skip

#: Properties of tensors that a replay would not read again.
_ADDRESSES = frozenset({"data_ptr", "storage_offset", "untyped_storage"})
_ANSWERS = dict.fromkeys(_ADDRESSES, "the address of a tensor")
_ANSWERS |= {
    "describe": "the text of a tensor",
    "get_state": "the state of a generator",
    "get_rng_state": "the state of a generator",
    "load": "what a file holds",
}

#: The packages of AutoCalc's objects whose settings steps read.
_OBJECTS = ("amp", "data", "distributions", "nn", "optim", "utils")

#: Python's library and NumPy are assumed not to change.
_LIBRARY = (sysconfig.get_path("stdlib"), "<frozen", "<__array_function__")

_STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}


def kind_of(code: CodeType, where: dict[str, Any]) -> str:
    """Return the kind of code; `where` are its globals.

    The kind is "users" for the user's code, and "own" for methods of AutoCalc's modules
    and optimizers.  Methods of tensors are "asked", or "answered" where a replay cannot
    ask again.  Functions without arguments that return a setting are "setting".
    Python's library and NumPy are "library".  The kind of other code is "".

    Functions that weak containers call when a value dies have a variable `selfref`.
    Their kind is "".
    """
    file = code.co_filename
    inside = own_path(file)
    if inside is not None:
        return _kind_of_own(inside, code)
    if str(where.get("__name__", "")).startswith("autocalc_"):  # a kernel package
        return ""
    if file.startswith("<") and _is_generated(str(where.get("__name__", ""))):
        return "library"
    if file.startswith(_LIBRARY) and "site-packages" not in file:
        return "" if "selfref" in code.co_varnames else "library"
    return "library" if "site-packages/numpy" in file else "users"


def _kind_of_own(inside: str, code: CodeType) -> str:
    if inside.startswith("models"):  # models are written as users write them
        return "users"
    if inside in _TENSORS + _GENERATORS + _FILES and code.co_name in _ANSWERS:
        return "answered"
    if inside in _TENSORS and code.co_name in _SIZES | _ASKED:
        return "asked"
    is_method = code.co_varnames[:1] == ("self",)
    if inside.startswith(_OBJECTS) and is_method:
        return "own"
    takes = code.co_argcount + code.co_kwonlyargcount - is_method
    asks = code.co_name.startswith(("is_", "get_", "are_", "has_", "initial_"))
    asks = asks and (not is_method or inside in _GENERATORS)
    return "setting" if asks and not takes and not code.co_flags & 0x0C else ""


def is_message(frame: FrameType) -> bool:
    """Return whether a frame is a call of Python's logging by AutoCalc.

    A recording ignores what handlers do with AutoCalc's messages.
    """
    if frame.f_globals.get("__name__") != "logging" or frame.f_back is None:
        return False
    return own_path(frame.f_back.f_code.co_filename) is not None


def answer_of(code: CodeType) -> str:
    """Return a text for the value that code of the kind "answered" returns."""
    return _ANSWERS[code.co_name]


def asks_for_size(code: CodeType) -> bool:
    """Return whether code of the kind "asked" returns a size."""
    return code.co_name in _SIZES


def is_users(kind: type | FunctionType | ModuleType) -> bool:
    """Return whether a class, function or module is the user's own."""
    name = "__name__" if isinstance(kind, ModuleType) else "__module__"
    module = getattr(kind, name, "")
    if module == "types":  # also of the classes that `make_dataclass` makes
        return vars(types).get(kind.__name__) is not kind
    return not (isinstance(module, str) and _is_of_library(module))


def _is_generated(module: str) -> bool:
    """Return whether code without a file is a method that the library generated."""
    return module.startswith("namedtuple_") or _is_of_library(module)


def _is_of_library(module: str) -> bool:
    root = module.partition(".")[0]
    if root == "autocalc":
        return not module.startswith("autocalc.models")
    return root in _STANDARD or root == "numpy"


def is_own(kind: type) -> bool:
    """Return whether a class belongs to AutoCalc."""
    return str(kind.__module__).startswith("autocalc")


def is_standard(thing: Any) -> bool:
    """Return whether an object's class belongs to Python's library."""
    module = getattr(type(thing), "__module__", "")
    return isinstance(module, str) and module.partition(".")[0] in _STANDARD
