# SPDX-License-Identifier: MIT
"""The registry of a module's attributes: their kinds, and views by kind.

Parameters, buffers and submodules are ordinary attributes, so that reading one costs
what any attribute costs; the module keeps only their names, in order, with their kind.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError

PARAMETER = "parameter"
BUFFER = "buffer"
MODULE = "module"

_NEEDED = {PARAMETER: "a Parameter", BUFFER: "a Tensor", MODULE: "a Module"}


class Registry(MutableMapping[str, Any]):
    """The attributes of one kind as a mapping: ``module._parameters`` and its like."""

    def __init__(self, owner: Any, kind: str) -> None:
        self._owner = owner
        self._kind = kind

    def __getitem__(self, name: str) -> Any:
        if self._owner._names.get(name) != self._kind:
            raise KeyError(name)
        return self._owner.__dict__[name]

    def __setitem__(self, name: str, value: Any) -> None:
        enter(self._owner, name, value, self._kind)

    def __delitem__(self, name: str) -> None:
        self[name]  # raises for a name of another kind
        delattr(self._owner, name)

    def __iter__(self) -> Iterator[str]:
        names = self._owner._names
        return iter([name for name, kind in names.items() if kind == self._kind])

    def __len__(self) -> int:
        return list(self._owner._names.values()).count(self._kind)

    def __repr__(self) -> str:
        return repr(dict(self))


def enter(owner: Any, name: str, value: Any, kind: str) -> None:
    """Make `value` the attribute `name` of that kind; a kind keeps its order."""
    names = owner._names
    if names.get(name) != kind:
        names.pop(name, None)
        owner._unsaved.discard(name)
        names[name] = kind
    owner.__dict__[name] = value


def check_name(where: str, owner: Any, name: object) -> None:
    """Raise unless `name` can become a registered attribute of `owner`."""
    if not isinstance(name, str):
        message = f"{where}: `name` is a {type(name).__name__}; it must be a text."
        raise DTypeError(message)
    if not name or "." in name:
        message = (
            f"{where}: `name`={name!r} must not be empty nor hold a dot, which "
            f"separates modules in the keys of state_dict()."
        )
        raise ArgumentError(message)
    if hasattr(owner, name) and name not in owner._names:
        message = (
            f"{where}: {type(owner).__name__} already has an attribute {name!r}; "
            f"choose another name."
        )
        raise ArgumentError(message)


def check_value(where: str, name: str, value: Any, needed: type, kind: str) -> None:
    """Raise unless `value` is None or of the class that its kind needs."""
    if value is not None and not isinstance(value, needed):
        message = (
            f"{where}: {name!r} is given a {type(value).__name__}; it must be "
            f"{_NEEDED[kind]} or None."
        )
        raise DTypeError(message)


def check_leaf(where: str, name: str, value: Tensor | None) -> None:
    """Raise if a parameter has a history: nothing would ever update it."""
    if value is not None and not value.is_leaf:
        message = (
            f"{where}: {name!r} was made by `{value._node().op.name}`; a parameter "
            f"must be a leaf. Compute it in forward() from parameters, or detach() it."
        )
        raise ArgumentError(message)
