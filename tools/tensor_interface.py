# SPDX-License-Identifier: MIT
"""Write the types of the methods of `Tensor`: `_tensor/interface.py`.

Methods are declared next to the operators and attached to `Tensor` at run time, where
type checkers and editors do not see them.  This program reads the signature of each
method and writes a class with all of them.  The class is generic in the tensor, so that
it imports nothing above it.

``python tools/tensor_interface.py`` (``make interface``) writes the file; with
``--check`` it fails if the file is out of date.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from autocalc._methods import members

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "autocalc-core" / "src" / "autocalc" / "_tensor" / "interface.py"

HEADER = '''# SPDX-License-Identifier: MIT
"""The types of the methods that `_methods` attaches to `Tensor`.

Made by ``make interface``: not to be edited.  Only type checkers and editors read it.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator
from autocalc._tensor.layouts import layout as Layout  # it names a member here
from autocalc._tensor.memory_format import contiguous_format, preserve_format

TensorT = TypeVar("TensorT")


class TensorInterface(Generic[TensorT]):
    """Methods, their signatures and what they return; `TensorT` is `Tensor`."""

    __slots__ = ()
    __hash__ = object.__hash__
'''

#: Names of types that the file uses unchanged; any other type becomes `Any`.
KNOWN = {"Any", "DType", "Device", "Generator", "Sequence", "None"}

#: Names with their replacements in the file.
ALIASES = {
    "Tensor": "TensorT",
    "Operand": "TensorT | builtins.float",
    "Dims": "builtins.int | Sequence[builtins.int] | None",
    "NeededDims": "builtins.int | Sequence[builtins.int] | None",
    "NeededDim": "builtins.int | None",
    "Parts": "tuple[TensorT, ...]",
}

#: Types that share their names with methods.
BUILTINS = {"bool", "float", "int", "str", "tuple", "list", "dict", "object"}


def type_of(annotation: Any) -> str:
    """Return an annotation in the names of the file."""
    if annotation is inspect.Parameter.empty:
        return "Any"
    tree = ast.parse(str(annotation), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name):
            continue
        if node.id in ALIASES:
            node.id = ALIASES[node.id]
        elif node.id in BUILTINS:
            node.id = f"builtins.{node.id}"
        elif node.id not in KNOWN:
            return "Any"
    return ast.unparse(tree)


def default_of(value: Any) -> str:
    """Return a default in a form that the file can contain."""
    return (
        str(value).removeprefix("autocalc.") if "format" in str(value) else repr(value)
    )


def operands(name: str, function: Callable[..., Any]) -> Iterator[str]:
    """Yield the operands of a Python operator, which has no other parameters."""
    kind = "object" if name in {"__eq__", "__ne__"} else "Any"
    for p in list(inspect.signature(function).parameters.values())[1:]:
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty:
            yield f"{p.name}: {kind}"


def parameters(function: Callable[..., Any]) -> Iterator[str]:
    """Yield the parameters after the tensor, in the form in which they are written."""
    starred = False
    for p in list(inspect.signature(function).parameters.values())[1:]:
        if p.kind is p.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred |= p.kind is p.VAR_POSITIONAL
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f" = {default_of(p.default)}"
        yield f"{stars}{p.name}: {type_of(p.annotation)}{default}"


def member(name: str, value: Any) -> str:
    """Return the lines of one member."""
    if not callable(value) and not isinstance(value, property):
        own = {"layout": "Layout"}.get(type(value).__name__)
        return f"    {name}: {own or f'builtins.{type(value).__name__}'}\n"
    function = value.fget if isinstance(value, property) else value
    decorator = "    @property\n" if isinstance(value, property) else ""
    dunder = name.startswith("__") and name not in {"__array__", "__setitem__"}
    behind = operands(name, function) if dunder else parameters(function)
    given = ", ".join(["self", *behind])
    returned = type_of(inspect.signature(function).return_annotation)
    note = "  # type: ignore[override]  # element by element"
    note = note if name in {"__eq__", "__ne__"} else ""
    doc = (inspect.getdoc(function) or "").split("\n", maxsplit=1)[0]
    body = f'        """{doc}"""\n        ...\n' if doc else "        ...\n"
    return f"{decorator}    def {name}({given}) -> {returned}:{note}\n{body}"


def text() -> str:
    """Return the text of the file."""
    return HEADER + "\n" + "\n".join(member(*one) for one in sorted(members().items()))


def main() -> None:
    """Write the file, or compare it."""
    made = ast.unparse(ast.parse(text()))
    if "--check" not in sys.argv:
        TARGET.write_text(text(), encoding="utf-8")
    elif made != ast.unparse(ast.parse(TARGET.read_text(encoding="utf-8"))):
        sys.exit(f"{TARGET} is stale; run: make interface")


if __name__ == "__main__":
    main()
