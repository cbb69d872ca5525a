# SPDX-License-Identifier: MIT
"""The kernel table, which has the spec of each kernel by its name.

The table imports each module in each family's folder and collects the kernels that are
declared there.  To add a kernel, it is therefore enough to add its file.  Modules whose
name begins with an underscore contain code that several kernels of a family share.
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


#: The name of a kernel -> its spec, in alphabetical order.
TABLE = _load()

#: The closed list of kernels that are sufficient to train any model.
PRIMITIVES = frozenset(name for name, spec in TABLE.items() if spec.kind == "primitive")
