# SPDX-License-Identifier: MIT
"""The registry of a module's attributes: their kinds, and views by kind.

Parameters, buffers and submodules are ordinary attributes, so reading one costs no more
than reading any attribute.  The module only keeps their names, in order, with their
kinds.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, MutableMapping
from typing import Any

from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, NameInUseError

PARAMETER = "parameter"
BUFFER = "buffer"
MODULE = "module"

_NEEDED = {PARAMETER: "a Parameter", BUFFER: "a Tensor", MODULE: "a Module"}


class Registry(MutableMapping[str, Any]):
    """A mapping of the attributes of one kind, such as ``module._parameters``."""

    def __init__(self, owner: Any, kind: str) -> None:
        self._owner = owner
        self._kind = kind

    def __getitem__(self, name: str) -> Any:
        if self._owner._names.get(name) != self._kind:
            raise KeyError(name)
        return self._owner.__dict__[name]

    def __setitem__(self, name: str, value: Any) -> None:
        _place(self._owner, name, value, self._kind)

    def __delitem__(self, name: str) -> None:
        self[name]  # raises for other kinds
        delattr(self._owner, name)

    def __iter__(self) -> Iterator[str]:
        names = self._owner._names
        return iter([name for name, kind in names.items() if kind == self._kind])

    def items(self) -> ItemsView[str, Any]:
        """Return names and attributes in a view that also supports `reversed`."""
        return {name: self._owner.__dict__[name] for name in self}.items()

    def __len__(self) -> int:
        return list(self._owner._names.values()).count(self._kind)

    def __repr__(self) -> str:
        return repr(dict(self))


#: Hooks of the process on new attributes, with their kinds (`global_hooks`).
ON_REGISTRATION: dict[int, tuple[str, Callable[..., Any]]] = {}


def enter(owner: Any, name: str, value: Any, kind: str) -> None:
    """Make `value`, or what hooks return for it, the attribute `name` of that kind."""
    if ON_REGISTRATION and (value is not None or kind != PARAMETER):
        for its_kind, hook in tuple(ON_REGISTRATION.values()):
            changed = hook(owner, name, value) if its_kind == kind else None
            value = value if changed is None else changed
    _place(owner, name, value, kind)


def _place(owner: Any, name: str, value: Any, kind: str) -> None:
    """Store the attribute; its kind keeps its order."""
    names = owner._names
    if names.get(name) != kind:
        names.pop(name, None)
        owner._unsaved.discard(name)
        names[name] = kind
    owner.__dict__[name] = value


def check_name(where: str, owner: Any, name: object, kind: str) -> None:
    """Raise unless `name` can become an attribute of that kind of `owner`."""
    if not isinstance(name, str):
        raise DTypeError(
            f"{where}: {kind} name should be a string. Got {type(name).__name__}."
        )
    if not name or "." in name:
        raise NameInUseError(
            f"{where}: `name`={name!r} must not be empty nor hold a dot, which "
            f"separates modules in the keys of state_dict()."
        )
    if hasattr(owner, name) and owner._names.get(name) != kind:
        raise NameInUseError(
            f"{where}: {type(owner).__name__} already has the attribute {name!r}; "
            "choose another name."
        )


def check_value(where: str, name: str, value: Any, needed: type, kind: str) -> None:
    """Raise unless `value` is None or of the class that its kind needs."""
    if value is not None and not isinstance(value, needed):
        raise DTypeError(
            f"{where}: {name!r} is given a {type(value).__name__}; it must be "
            f"{_NEEDED[kind]} or None."
        )


def check_leaf(where: str, name: str, value: Tensor | None) -> None:
    """Raise if a parameter has a history, because nothing would ever update it."""
    if value is not None and not value.is_leaf:
        raise ArgumentError(
            f"{where}: {name!r} was made by `{value._node().op.name}`; a parameter "
            f"must be a leaf. Compute it in forward() from parameters, or detach() it."
        )
