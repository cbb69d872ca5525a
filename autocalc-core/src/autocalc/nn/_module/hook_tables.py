# SPDX-License-Identifier: MIT
"""The hooks of a module by key, for libraries that read or clear them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from autocalc.nn._module.hooks import Hook


class HookTable(MutableMapping[int, Callable[..., Any]]):
    """The hooks of a module of one kind, such as ``module._forward_hooks``."""

    def __init__(self, module: Any, kind: str) -> None:
        self._module = module
        self._kind = kind

    def _found(self) -> dict[int, Hook]:
        """Return the hooks, or a new empty dict if there never were any."""
        hooks = self._module._hooks
        return {} if hooks is None else getattr(hooks, self._kind)

    def __getitem__(self, key: int) -> Callable[..., Any]:
        return self._found()[key].function

    def __setitem__(self, key: int, hook: Callable[..., Any]) -> None:
        getattr(self._module._own_hooks(), self._kind)[key] = Hook(hook)

    def __delitem__(self, key: int) -> None:
        del self._found()[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __repr__(self) -> str:
        return repr(dict(self))


def table(kind: str) -> property:
    """Return the property of a module that is its table of one kind of hooks."""

    def read(module: Any) -> HookTable:
        return HookTable(module, kind)

    def replace(module: Any, hooks: Mapping[int, Callable[..., Any]]) -> None:
        kept, own = dict(hooks), read(module)
        own.clear()
        own.update(kept)

    def clear(module: Any) -> None:
        read(module).clear()

    return property(read, replace, clear)


def chosen(kind: str, how: str) -> property:
    """Return the property of a module that tells which hooks are called in some way."""

    def read(module: Any) -> dict[int, bool]:
        hooks = HookTable(module, kind)._found()
        return {key: True for key, hook in hooks.items() if getattr(hook, how)}

    return property(read)
