# SPDX-License-Identifier: MIT
"""The import finder of ``torch`` and all modules below it.

A path below ``torch`` leads to the first of these three that exists:

- AutoCalc's module of the same path;
- a file in this package's folder ``_path``, for code that only PyTorch's name needs;
- a module of names that are only mentioned (`autocalc.torch._mentioned`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from autocalc._tensor import Tensor, spelling
from autocalc.errors import AutocalcError
from autocalc.torch import _mentioned

#: This folder is first on the import path, here and in child processes.  It contains
#: the package ``torch`` and, for `importlib.metadata`, its metadata file.
FOLDER = Path(__file__).with_name("_path")


class _SameModule:
    """Returns the module of AutoCalc under its other name."""

    def __init__(self, name: str) -> None:
        self._module = import_module(name)
        self._spec = self._module.__spec__
        self.is_package = "__path__" in vars(self._module)

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system replaced it


class _Finder:
    """Finds ``torch`` and the modules below it."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002  the import system's
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        root, _, inside = fullname.partition(".")
        if root != "torch":
            return _mentioned.spec(fullname) if root == "torchvision" else None
        if inside and _is_ours(inside):
            same = _SameModule(f"autocalc.{inside}")
            return ModuleSpec(fullname, cast("Any", same), is_package=same.is_package)
        parent = FOLDER.joinpath(*fullname.split(".")[:-1])
        found = PathFinder.find_spec(fullname, [str(parent)])
        return found or _mentioned.spec(fullname)


def _is_ours(inside: str) -> bool:
    name = f"autocalc.{inside}"
    if name.startswith("autocalc.torch"):
        return False
    try:
        return find_spec(name) is not None
    except (ModuleNotFoundError, AttributeError):  # the parent is missing, too
        return False


_finder = _Finder()


def install() -> None:
    """Put the finder before all others, and the folder first on the path."""
    if _finder in sys.meta_path:
        return
    there = sys.modules.get("torch")
    if there is not None and not str(there.__file__).startswith(str(FOLDER)):
        raise AutocalcError(
            "autocalc.torch.install: PyTorch has already been imported, from "
            f"{there.__file__}. Call install() before the first `import torch`."
        )
    sys.meta_path.insert(0, cast("Any", _finder))
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    _mentioned.install()
    # Libraries choose a backend by the module of a tensor's class.
    Tensor.__module__ = "torch"
    spelling.package = "torch"
