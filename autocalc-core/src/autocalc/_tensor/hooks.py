# SPDX-License-Identifier: MIT
"""Hooks on tensors: their handles, and hooks that tensors set themselves."""

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
        """Reserve keys from another process, so that no new hook gets one of them."""
        RemovableHandle._next = max(RemovableHandle._next, *keys, 0)

    def hooks_dict_ref(self) -> dict[int, Any]:
        """Return the hooks among which the hook is registered, by `id`."""
        return self._hooks

    def remove(self) -> None:
        """Remove the hook; calling it again has no effect."""
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


class Accumulated:
    """A hook that receives its leaf without keeping it alive."""

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
                "register_post_accumulate_grad_hook: hooks should return None. This "
                f"one returned a {type(result).__name__}; to change the gradient, "
                "write into the `grad` of its argument."
            )


class Retain:
    """The hook of `retain_grad`: sums the gradients that pass, after other hooks."""

    grad: Any = None

    def __call__(self, gradient: Any) -> None:
        """Store `gradient`, or add it to the stored one."""
        self.grad = gradient.clone() if self.grad is None else self.grad + gradient


def retained(node: Node, slot: int) -> Retain | None:
    """Return the hook that `retain_grad` has set for this output; None if none."""
    for hook in (node.hooks or {}).get(slot, {}).values():
        if isinstance(hook, Retain):
            return hook
    return None


def keep_retaining(x: Any, before: Any) -> None:
    """After an in-place write, move the `retain_grad` of `before` to the new `x`."""
    if before is None or before.__class__ is Leaf:
        return
    node, slot = node_and_slot(before)
    hooks = (node.hooks or {}).get(slot, {})
    kept = retained(node, slot)
    if kept is not None and x._edge is not None:
        hooks.pop(next(key for key, hook in hooks.items() if hook is kept))
        x.register_hook(kept)


def node_and_slot(edge: Any) -> tuple[Node, int]:
    """Return the node to which an edge leads, and the number of its output."""
    return (edge.node, edge.slot) if edge.__class__ is Output else (edge, 0)
