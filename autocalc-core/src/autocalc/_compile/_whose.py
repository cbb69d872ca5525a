# SPDX-License-Identifier: MIT
"""Whose code and objects there are: the user's, AutoCalc's, Python's library's."""

from __future__ import annotations

import sys
import sysconfig
from types import CodeType, ModuleType
from typing import Any

from autocalc._dispatch._callers import own_path

#: Where tensors are asked for what they are, and how.
_TENSORS = "_tensor/tensor.py"
_SIZES = frozenset(
    {"shape", "size", "numel", "__len__", "nbytes", "stride", "is_contiguous"}
)
_ASKED = frozenset(
    {"requires_grad", "is_leaf", "grad", "dtype", "ndim", "dim", "is_floating_point"}
)

#: Python's library and NumPy are taken not to change.
_LIBRARY = (sysconfig.get_path("stdlib"), "<frozen", "<__array_function__")

_STANDARD = frozenset(sys.stdlib_module_names) - {"__main__"}


def kind_of(code: CodeType, where: dict[str, Any]) -> str:
    """Return whose code it is; `where` are its globals.

    "users", "own" for AutoCalc's methods of modules and optimizers, "asked" for
    tensors' own, "setting" for functions without arguments, or "".
    """
    file = code.co_filename
    inside = own_path(file)
    if inside is not None:
        return _kind_of_own(inside, code)
    if file.startswith("<") and _is_generated(str(where.get("__name__", ""))):
        return ""
    if file.startswith(_LIBRARY) and "site-packages" not in file:
        return ""
    return "" if "site-packages/numpy" in file else "users"


def _kind_of_own(inside: str, code: CodeType) -> str:
    if inside.startswith("models"):  # written as users write theirs
        return "users"
    if inside == _TENSORS and code.co_name in _SIZES | _ASKED:
        return "asked"
    if inside.startswith(("nn", "optim")) and code.co_varnames[:1] == ("self",):
        return "own"
    takes = code.co_argcount + code.co_kwonlyargcount
    asks = code.co_name.startswith(("is_", "get_", "are_", "has_"))
    return "setting" if asks and not takes and not code.co_flags & 0x0C else ""


def asks_for_size(code: CodeType) -> bool:
    """Return whether code of the kind "asked" returns a size."""
    return code.co_name in _SIZES


def is_users(kind: type | ModuleType) -> bool:
    """Return whether a class or module is neither AutoCalc's, NumPy's, nor Python's."""
    name = "__name__" if isinstance(kind, ModuleType) else "__module__"
    module = getattr(kind, name, "")
    return not (isinstance(module, str) and _is_of_library(module))


def _is_generated(module: str) -> bool:
    """Return whether code without a file is a method that the library has written."""
    return module.startswith("namedtuple_") or _is_of_library(module)


def _is_of_library(module: str) -> bool:
    root = module.partition(".")[0]
    if root == "autocalc":
        return not module.startswith("autocalc.models")
    return root in _STANDARD or root == "numpy"


def is_standard(thing: Any) -> bool:
    """Return whether an object's class is one of Python's library."""
    module = getattr(type(thing), "__module__", "")
    return isinstance(module, str) and module.partition(".")[0] in _STANDARD
