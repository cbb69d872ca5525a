# SPDX-License-Identifier: MIT
"""Write the types of `Tensor`'s methods: `_tensor/interface.py`.

Methods are attached to `Tensor` at run time (`autocalc/_methods`), where type checkers
and editors do not see them.  This program reads their sources and writes a class of
their signatures, generic in the tensor, so that it imports nothing above it.

``python tools/tensor_interface.py`` (``make interface``) writes the file; with
``--check`` it fails where the file is stale.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autocalc-core" / "src" / "autocalc"
TARGET = PACKAGE / "_tensor" / "interface.py"

HEADER = '''# SPDX-License-Identifier: MIT
"""The types of the methods that `_methods` attaches to `Tensor`.

Made by ``make interface``: not to be edited.  Only type checkers and editors read it.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator
from autocalc._tensor.memory_format import contiguous_format

TensorT = TypeVar("TensorT")
Ints: TypeAlias = int | Sequence[int]


class TensorInterface(Generic[TensorT]):
    """Methods, their signatures and what they return; `TensorT` is `Tensor`."""

    __slots__ = ()
    __hash__ = object.__hash__
'''


#: What a class that has methods of these names cannot call by them.
HIDDEN = {"bool", "float", "int"}


class ToVariable(ast.NodeTransformer):
    """Replace `Tensor` by the type variable, hidden names by those of `builtins`."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Replace the name."""
        if node.id in HIDDEN:
            return ast.Attribute(ast.Name("builtins", node.ctx), node.id, node.ctx)
        return ast.Name("TensorT", node.ctx) if node.id == "Tensor" else node


def classes() -> dict[str, dict[str, ast.stmt]]:
    """Return each class of the methods: member name -> definition."""
    found: dict[str, dict[str, ast.stmt]] = {}
    for path in sorted((PACKAGE / "_methods").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name] = dict(members(node))
    return found


def members(cls: ast.ClassDef) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the members of a class by name."""
    for node in cls.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node


def signature(node: ast.FunctionDef, name: str) -> str:
    """Return a method without its body, its first line of documentation beside it."""
    plain = ToVariable().visit(node)
    plain.args.args[0].annotation = None
    decorators = "".join(f"    @{ast.unparse(d)}\n" for d in plain.decorator_list)
    head = f"    def {name}({ast.unparse(plain.args)}) -> {ast.unparse(plain.returns)}:"
    note = "  # type: ignore[override]  # element by element"
    head += note if name in {"__eq__", "__ne__"} else ""
    doc = (ast.get_docstring(node) or "").split("\n", maxsplit=1)[0]
    body = f'        """{doc}"""\n        ...\n' if doc else "        ...\n"
    return f"{decorators}{head}\n{body}"


def resolve(
    value: ast.expr, own: dict[str, ast.stmt], every: dict[str, dict[str, ast.stmt]]
) -> ast.stmt | None:
    """Return the definition that an alias names."""
    if isinstance(value, ast.Name):
        return own.get(value.id)
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return every.get(value.value.id, {}).get(value.attr)
    return None


def lines() -> Iterator[str]:
    """Yield the members of all classes."""
    every = classes()
    for own in every.values():
        for name, node in own.items():
            if name in {"__slots__", "__hash__"}:
                continue
            if isinstance(node, ast.FunctionDef):
                yield signature(node, name)
                continue
            assert isinstance(node, ast.Assign)
            method = resolve(node.value, own, every)
            if isinstance(method, ast.FunctionDef):
                yield signature(method, name)
            elif isinstance(node.value, ast.Constant):
                yield f"    {name}: builtins.{type(node.value.value).__name__}\n"


def text() -> str:
    """Return the file."""
    return HEADER + "\n" + "\n".join(lines())


def main() -> None:
    """Write the file, or compare it."""
    made = ast.unparse(ast.parse(text()))
    if "--check" not in sys.argv:
        TARGET.write_text(text(), encoding="utf-8")
    elif made != ast.unparse(ast.parse(TARGET.read_text(encoding="utf-8"))):
        sys.exit(f"{TARGET} is stale; run: make interface")


if __name__ == "__main__":
    main()
