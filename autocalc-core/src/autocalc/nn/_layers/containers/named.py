# SPDX-License-Identifier: MIT
"""Modules that hold modules by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from autocalc._tensor.checks import sequence, short
from autocalc.errors import DTypeError, MissingPartError
from autocalc.nn._layers.containers.container import _module_or_none
from autocalc.nn._module.module import Module, not_called


def _pairs(given: Any) -> list[tuple[str, Any]]:
    """Return (name, value) pairs of a mapping or of an iterable of pairs."""
    if isinstance(given, (Mapping, _Named)):
        return list(given.items())
    pairs = sequence("update", "modules", given)
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        message = (
            f"update: {short(given)} does not contain pairs of a name and a value."
        )
        raise DTypeError(message)
    return [tuple(pair) for pair in pairs]


class _Named(Module):
    """The base of both dicts: a view of the attributes of one kind, by name."""

    def _entries(self) -> Any:
        raise NotImplementedError

    def _key(self, key: Any) -> str:
        if key not in self:
            known = ", ".join(self._entries()) or "none"
            message = f"{self._get_name()}: there is no {key!r}; the keys are {known}."
            raise MissingPartError(message)
        return str(key)

    def __getitem__(self, key: str) -> Any:
        return self._entries()[self._key(key)]

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError

    def __delitem__(self, key: str) -> None:
        delattr(self, self._key(key))

    def __len__(self) -> int:
        return len(self._entries())

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __contains__(self, key: object) -> bool:
        return key in self._entries()

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return list(self._entries())

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return list(self._entries().values())

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return (name, value) pairs."""
        return list(self._entries().items())

    def pop(self, key: str) -> Any:
        """Remove an entry and return its value."""
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        """Remove all entries."""
        for key in self.keys():
            del self[key]

    def update(self, entries: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Add entries; replace the values of names that exist already."""
        for name, value in _pairs(entries):
            self[name] = value


class ModuleDict(_Named):
    """A dict of modules; `parameters`, `state_dict` and similar methods find them.

    Parameters
    ----------
    modules
        A mapping of names to modules, or an iterable of (name, module) pairs.  A value
        may be None.

    Examples
    --------
    >>> import autocalc as ac
    >>> choices = ac.nn.ModuleDict({"relu": ac.nn.ReLU(), "tanh": ac.nn.Tanh()})
    >>> choices["relu"](ac.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    forward: Callable[..., Any] = not_called

    def __init__(
        self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None
    ) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def _entries(self) -> Any:
        return self._modules

    def __setitem__(self, key: str, module: Module) -> None:
        self.register_module(key, _module_or_none(self, module))
