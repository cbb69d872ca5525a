# SPDX-License-Identifier: MIT
"""Generate the names of `autocalc`: its imports of operators, and its `__all__`.

A method that is a public function is also a function of `autocalc`, with the same name.
Other functions are imported there by hand.  `make interface` runs this program, and
ruff then sorts the imports.
"""

from __future__ import annotations

import ast
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from inspect import getsource
from pathlib import Path

import autocalc
from autocalc import _ops
from autocalc._ops._operator.method import METHODS

PAGE = Path(autocalc.__file__)
#: Methods whose functions are in `nn.functional`, or that have no function.
METHODS_ALONE = {"hardshrink", "prelu", "to", "type_as", "unfold"}


def missing() -> Iterator[str]:
    """Yield the imports of methods that are not yet functions of `autocalc`."""
    found = pkgutil.walk_packages(_ops.__path__, f"{_ops.__name__}.")
    modules = [import_module(module.name) for module in found]
    for name, function in METHODS.items():
        known = name.startswith("_") or name.endswith("_") or name in METHODS_ALONE
        if known or hasattr(autocalc, name) or function.__name__.startswith("_"):
            continue
        module, own = next(
            (module.__name__, own)
            for module in modules
            for own, x in vars(module).items()
            if x is function and re.search(rf"\n(def )?{own}\b", getsource(module))
        )
        renamed = "" if own == name else f" as {name}"
        yield f"from {module} import {own}{renamed}\n"


def public(text: str) -> list[str]:
    """Return the names that a module binds by imports and assignments."""
    names = {"__version__"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {x.id for x in node.targets if isinstance(x, ast.Name)}
    hidden = {name for name in names if name.startswith("_") and name != "__version__"}
    return sorted(names - hidden - {"annotations"}, key=_with_numbers)


def _with_numbers(name: str) -> list[tuple[str, int]]:
    """Return the sort key of a name: int8 comes before int16."""
    return [(word, int(n or -1)) for word, n in re.findall(r"(\D*)(\d*)", name)]


def page() -> str:
    """Return the text of `autocalc/__init__.py` with all names."""
    first, operators, rest = PAGE.read_text(encoding="utf-8").partition(
        "from autocalc._ops."
    )
    text = first + "".join(missing()) + operators + rest
    before, _, rest = text.partition("__all__ = [")
    after = rest.rpartition("__all__ += [")[2].partition("\n")[2]
    words = textwrap.wrap(", ".join(f'"{name}"' for name in public(text)), 74)
    lines = [f"__all__ += [{line.rstrip(',')}]\n" for line in words]
    return before + "".join(lines).replace("+=", "=", 1) + after


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
