# SPDX-License-Identifier: MIT
"""Hooks on tensors: their handles, and those that tensors set themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import ref

from autocalc._graph._node import Leaf, Node, Output
from autocalc.errors import HookError


class RemovableHandle:
    """A handle whose `remove()` removes a registered hook."""

    _next = 0

    def __init__(
        self, hooks: dict[int, Any], hook: Any, *, prepend: bool = False
    ) -> None:
        RemovableHandle._next += 1
        self._hooks = hooks
        self.id = RemovableHandle._next
        others = list(hooks) if prepend else ()
        hooks[self.id] = hook
        for key in others:
            hooks[key] = hooks.pop(key)

    @staticmethod
    def keep_free_of(keys: Iterable[int]) -> None:
        """Give none of these keys, which come from another process, to a new hook."""
        RemovableHandle._next = max(RemovableHandle._next, *keys, 0)

    def remove(self) -> None:
        """Remove the hook; calling it again has no effect."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Accumulated:
    """A hook that gets its leaf, which it does not keep alive."""

    def __init__(self, leaf: Any, hook: Callable[[Any], Any]) -> None:
        self._leaf = ref(leaf)
        self._hook = hook

    def __call__(self) -> None:
        """Run the hook, if the leaf still lives."""
        leaf = self._leaf()
        if leaf is None:
            return
        result = self._hook(leaf)
        if result is not None:
            raise HookError(
                "register_post_accumulate_grad_hook: the hook returned a "
                f"{type(result).__name__}; it must return None. To change the "
                "gradient, write into the `grad` of its argument."
            )


class Retain:
    """The hook of `retain_grad`: adds up what passes, after all other hooks."""

    grad: Any = None

    def __call__(self, gradient: Any) -> None:
        """Keep `gradient`, or add it to what was kept."""
        self.grad = gradient.clone() if self.grad is None else self.grad + gradient


def retained(node: Node, slot: int) -> Retain | None:
    """Return the hook that a `retain_grad` of this output has set."""
    for hook in (node.hooks or {}).get(slot, {}).values():
        if isinstance(hook, Retain):
            return hook
    return None


def keep_retaining(x: Any, before: Any) -> None:
    """Let `retain_grad` mean what `x` is after a write in place, not `before` it."""
    if before is None or before.__class__ is Leaf:
        return
    node, slot = node_and_slot(before)
    hooks = (node.hooks or {}).get(slot, {})
    kept = retained(node, slot)
    if kept is not None and x._edge is not None:
        hooks.pop(next(key for key, hook in hooks.items() if hook is kept))
        x.register_hook(kept)


def node_and_slot(edge: Any) -> tuple[Node, int]:
    """Return the node that an edge leads to, and which of its outputs it is."""
    return (edge.node, edge.slot) if edge.__class__ is Output else (edge, 0)
