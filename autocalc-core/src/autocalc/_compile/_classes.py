# SPDX-License-Identifier: MIT
"""Attributes of bases and subclasses that code reads; `found` collects guards."""

from __future__ import annotations

from types import CodeType
from typing import Any

from autocalc._compile._guards import Inside
from autocalc._compile._places import MISSING, OfClass
from autocalc._compile._reads import Path, Reads
from autocalc._compile._whose import is_users

_ESCAPES = Path()
_ESCAPES.escapes = True


def of_relatives(
    found: Any, label: str, value: Any, name: str, reads: Reads, code: CodeType
) -> None:
    """Guard what other classes have, where code comes to them by an attribute."""
    kind = value if isinstance(value, type) else type(value)
    if "super" in reads.globals:
        _of_bases(found, label, value, name, reads, code)
    if name == "__subclasses__" and kind is value and is_users(kind):
        _subclasses(found, label, kind, reads, code)


def _of_bases(
    found: Any, label: str, value: Any, name: str, reads: Reads, code: CodeType
) -> None:
    """Guard an attribute of each class of a value: `super` passes over some of them."""
    kind = value if isinstance(value, type) else type(value)
    for base in filter(is_users, kind.__mro__):
        of_class = vars(base).get(name, MISSING)
        found.place(label, OfClass(found.held(base), name), of_class, code)
        if of_class is not MISSING:
            found.from_class(label, value, name, of_class, _ESCAPES, reads, code)


def _subclasses(
    found: Any, label: str, kind: type, reads: Reads, code: CodeType
) -> None:
    """Guard which subclasses a class has, and what code reads of them."""
    if found.first(kind, (id(reads), "subclasses")):
        held = found.held(kind)
        found.guards.append(Inside(label, held, type.__subclasses__, code))
        one: type
        for one in type.__subclasses__(kind):
            found.inside(f"{label}()", one, reads, code)
