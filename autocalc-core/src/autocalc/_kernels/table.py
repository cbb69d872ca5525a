# SPDX-License-Identifier: MIT
"""The kernel table: every kernel's spec by its name.

The table imports each module of each family's folder and takes up the kernels that
are declared there, so that a kernel is added by adding its file.  Modules whose name
begins with an underscore hold what several kernels of a family share.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import autocalc._kernels as package
from autocalc._kernels.declare import Declaration
from autocalc._kernels.spec import KernelSpec


def _families() -> Iterator[str]:
    """Yield the full names of the families' packages."""
    for found in iter_modules(package.__path__, f"{package.__name__}."):
        if found.ispkg:
            yield found.name


def _modules(family: str) -> Iterator[ModuleType]:
    """Yield the modules of a family that declare kernels."""
    path = import_module(family).__path__
    for found in iter_modules(path):
        if not found.name.startswith("_"):
            yield import_module(f"{family}.{found.name}")


def _declared(module: ModuleType) -> Iterator[KernelSpec]:
    """Yield the kernels that a module declares (or imports)."""
    for value in vars(module).values():
        if isinstance(value, Declaration):
            yield value.spec()


def _load() -> dict[str, KernelSpec]:
    table: dict[str, KernelSpec] = {}
    for family in _families():
        for module in _modules(family):
            for spec in _declared(module):
                if table.setdefault(spec.name, spec) is not spec:
                    raise TypeError(f"kernel {spec.name} is declared twice.")
    return dict(sorted(table.items()))


#: Kernel name -> spec, in alphabetical order.
TABLE = _load()

#: The closed list that is enough to train any model.
PRIMITIVES = frozenset(name for name, spec in TABLE.items() if spec.kind == "primitive")
