# SPDX-License-Identifier: MIT
"""`torch.ops`: the operators that programs define with `torch.library`."""

from __future__ import annotations

from typing import Any, NoReturn

from autocalc.errors import AbsentError
from autocalc.torch import _mentioned, _report
from torch import library

#: Namespaces of PyTorch's own operators, which tables of libraries mention.
_PYTORCHS = {"aten", "prim", "prims", "quantized"}
_WHY = "operators have their public names alone. Instead: the function of that name."


class _Namespace:
    """The operators of one namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if self._name in _PYTORCHS:
            why = f"torch.ops.{self._name}.{name} is not in AutoCalc: {_WHY}"
            return _mentioned.stand_in(f"torch.ops.{self._name}", name, why)
        found = library.DEFINED.get(f"{self._name}::{name}")
        if found is None:
            _report.note(f"torch.ops.{self._name}.{name}")
            raise AttributeError(f"there is no operator {self._name}::{name}")
        return found


class _NoLibraryError(AbsentError, OSError):
    """An error for a compiled library of PyTorch operators, which cannot be loaded."""


def load_library(path: Any) -> NoReturn:
    """Raise an error: such libraries are compiled for PyTorch."""
    raise _NoLibraryError(f"torch.ops.load_library: {path} is compiled for PyTorch.")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Namespace(name)
