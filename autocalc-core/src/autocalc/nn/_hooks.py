# SPDX-License-Identifier: MIT
"""Hooks of modules: functions that see calls and states pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._tensor import RemovableHandle


class Hook(NamedTuple):
    """A user's function, and whether it wants the keyword arguments too."""

    function: Callable[..., Any]
    with_kwargs: bool = False


class Hooks:
    """The hooks of one module, by kind; made when the first one is registered."""

    __slots__ = ("forward", "forward_pre", "load_state_post", "load_state_pre",
                 "state_post", "state_pre")  # fmt: skip

    def __init__(self) -> None:
        self.forward_pre: dict[int, Hook] = {}
        self.forward: dict[int, Hook] = {}
        self.state_pre: dict[int, Hook] = {}
        self.state_post: dict[int, Hook] = {}
        self.load_state_pre: dict[int, Hook] = {}
        self.load_state_post: dict[int, Hook] = {}


def register(hooks: dict[int, Hook], hook: Hook, prepend: bool) -> RemovableHandle:
    """Add a hook behind the others, or in front of them."""
    others = dict(hooks)
    handle = RemovableHandle(hooks, hook)  # type: ignore[arg-type]  # only a key
    if prepend:
        for key in others:
            hooks[key] = hooks.pop(key)
    return handle


def call_forward(
    module: Any, hooks: Hooks, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run a module's forward() between its hooks."""
    for hook in tuple(hooks.forward_pre.values()):
        if hook.with_kwargs:
            changed = hook.function(module, args, kwargs)
            if changed is not None:
                args, kwargs = changed
        else:
            changed = hook.function(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    output = module.forward(*args, **kwargs)
    for hook in tuple(hooks.forward.values()):
        given = (args, kwargs) if hook.with_kwargs else (args,)
        changed = hook.function(module, *given, output)
        output = output if changed is None else changed
    return output


def run(hooks: dict[int, Hook], *args: Any) -> None:
    """Call each hook; what they return is ignored."""
    for hook in tuple(hooks.values()):
        hook.function(*args)
