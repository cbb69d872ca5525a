# SPDX-License-Identifier: MIT
"""Hooks on nodes of the graph: what arrives at a rule, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.selection.upcast import HALVES
from autocalc._graph._halves import rule_in_float32
from autocalc._graph._node import Leaf, Partial
from autocalc._graph._walk import BORROWED
from autocalc._tensor import RemovableHandle, Retain, Tensor, make
from autocalc.errors import ArgumentError, DTypeError, GradError

Hook = Callable[..., Any]


def check_hook(where: str, hook: object) -> None:
    """Raise unless `hook` can be called."""
    if not callable(hook):
        message = f"{where}: `fn` is a {type(hook).__name__}; give a function."
        raise ArgumentError(message)


class PreHook:
    """A hook that sees, and may replace, what has arrived at a node."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook

    def __call__(self, walk: Any, arrived: list[Any]) -> None:
        """Run the hook, and let the pass go on with what it returns."""
        given = _tensors(arrived[1::2])
        found = _replaced(self._hook, self._hook(given), given)
        for i, (old, new) in enumerate(zip(given, found, strict=True)):
            if new is not old:
                arrived[1 + 2 * i] = _value(new, walk.k)
                arrived[2 + 2 * i] = BORROWED


class HookedOp:
    """The operator of a node with hooks, which see what its rule returns.

    In all else it is the operator itself.
    """

    #: Of no kernel: the rule of half precision is chosen in `rule`.
    spec = None

    def __init__(self, op: Any) -> None:
        self.op = op
        self.hooks: dict[int, Hook] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.op, name)

    def rule(self, k: Any, n: Any, g: Any) -> Any:
        """Apply the operator's rule, and give its gradients to the hooks."""
        node = getattr(n, "node", n)
        node.op = self.op  # what a rule in float32 looks at
        try:
            wide = node.dtype in HALVES
            found = rule_in_float32(k, n, g) if wide else self.op.rule(k, n, g)
        finally:
            node.op = self
        if not self.hooks:
            return found
        results = found if found.__class__ is tuple else (found,)
        outs = _tensors(g if g.__class__ is tuple else (g,))
        pairs = zip(results, node.edges, strict=False)
        kept = [r if edge else None for r, edge in pairs]
        given = _tensors(_whole(k, r, node.shapes[i], g) for i, r in enumerate(kept))
        shown = given
        for hook in tuple(self.hooks.values()):
            shown = _replaced(hook, hook(shown, outs), shown)
        triples = zip(results, given, shown, strict=True)
        return tuple(r if new is old else _value(new, k) for r, old, new in triples)


class _Arrived(Retain):
    """The last hook of a leaf: it holds what is added for those that run after."""

    def __call__(self, gradient: Any) -> None:
        """Hold the gradient."""
        self.grad = gradient


class _BothHandles(RemovableHandle):
    """Takes away a hook and what it needs."""

    def __init__(
        self, first: RemovableHandle, hooks: dict[int, Any], hook: Any
    ) -> None:
        super().__init__(hooks, hook)
        self._first = first

    def remove(self) -> None:
        """Take both away."""
        self._first.remove()
        super().remove()


def on_accumulation(leaf: Leaf, hook: Hook) -> RemovableHandle:
    """Call ``hook((), (gradient,))`` when a gradient was added to a leaf's."""
    arrived = _Arrived()
    leaf.hooks = {} if leaf.hooks is None else leaf.hooks
    leaf.accumulated = leaf.accumulated or {}
    first = RemovableHandle(leaf.hooks, arrived)

    def run() -> None:
        gradient, arrived.grad = arrived.grad, None
        hook((), (gradient,))

    return _BothHandles(first, leaf.accumulated, run)


def on_arrival(leaf: Leaf, hook: Hook) -> RemovableHandle:
    """Call ``hook((gradient,))`` before a gradient is added to a leaf's."""

    def run(gradient: Any) -> Any:
        given = (gradient,)
        (found,) = _replaced(hook, hook(given), given)
        return None if found is gradient else found

    leaf.hooks = {} if leaf.hooks is None else leaf.hooks
    return RemovableHandle(leaf.hooks, run)


def _tensors(values: Any) -> tuple[Any, ...]:
    """Return values of a pass, arrays or tensors, as tensors."""
    return tuple(
        x if x is None or isinstance(x, Tensor) else make(x, None) for x in values
    )


def _value(x: Any, k: Any) -> Any:
    """Return a hook's tensor as the pass has values; its memory is the user's."""
    return x if x is None or k.records else x._array.view()


def _whole(k: Any, result: Any, shape: Any, g: Any) -> Any:
    """Return what a rule returned, of an input's whole shape."""
    if result.__class__ is not Partial:
        return result
    if result.index is None:
        return result.value(g, False)
    zeros = k.zeros(shape, k.dtype(result.value))
    return k.add_into_slice(zeros, result.index, result.value)


def _replaced(hook: Any, found: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a hook gives in the place of `given`, which None keeps."""
    if found is None:
        return given
    name = getattr(hook, "__name__", type(hook).__name__)
    if not isinstance(found, tuple):
        raise DTypeError(
            f"hook {name!r}: returned a {type(found).__name__}; it must return None or "
            f"a tuple of tensors."
        )
    if len(found) != len(given):
        raise GradError(
            f"hook {name!r}: got {len(found)}, but expected {len(given)} gradients; "
            f"return None, or one for each."
        )
    for i, (new, old) in enumerate(zip(found, given, strict=True)):
        if new is None:
            continue
        if not isinstance(new, Tensor):
            raise DTypeError(
                f"hook {name!r}: returned value {i} is a {type(new).__name__}; it "
                "must be a tensor or None."
            )
        if old is not None and (new.shape, new.dtype) != (old.shape, old.dtype):
            raise GradError(
                f"hook {name!r}: returned value {i} has shape {new.shape} and dtype "
                f"{new.dtype.name}, but the gradient has shape {old.shape} and dtype "
                f"{old.dtype.name}; they must be equal."
            )
    return found
