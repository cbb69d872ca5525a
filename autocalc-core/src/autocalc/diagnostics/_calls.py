# SPDX-License-Identifier: MIT
"""Kernel calls as they happen, for observers; without one they cost nothing.

A selection whose decisions are wrapped sees each call: what dispatch offers to counters
and recorders.  A composite that runs as its decomposition is seen as one call, and what
a kernel calls itself is a part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autocalc._dispatch._callers import layer_of
from autocalc._dispatch.selection.select import Decomposed, Entry
from autocalc._dispatch.selection.state import current, enter, leave, recorder
from autocalc._kernels.spec import KernelSpec
from autocalc.autograd._anomaly import mode
from autocalc.diagnostics._layers import Layers
from autocalc.errors import CompileError


class Seen:
    """One call: outputs are known once it has run.

    In-out operands (`spec.writes`) are among the outputs.
    """

    __slots__ = ("attributes", "inputs", "outputs", "spec")

    def __init__(
        self,
        spec: KernelSpec,
        outputs: tuple[Any, ...],
        inputs: tuple[Any, ...],
        attributes: tuple[Any, ...],
    ) -> None:
        self.spec = spec
        self.outputs = outputs
        self.inputs = inputs
        self.attributes = attributes

    def written(self) -> list[Any]:
        """Return the outputs that the call reads as well."""
        spec = self.spec
        masked = spec.accumulates and len(self.attributes) == len(spec.attributes)
        mask = self.attributes[-1] if masked else 0
        return [
            x
            for i, (x, output) in enumerate(
                zip(self.outputs, spec.outputs, strict=False)
            )
            if x is not None and (output.name in spec.writes or mask >> i & 1)
        ]


Look = Callable[[Seen, Callable[[], Any]], None]


class Watcher:
    """Wraps chosen kernels: ``look(seen, run)`` is called for each call and runs it."""

    def __init__(self, look: Look, inner: Any) -> None:
        self.look = look
        self.inner = inner
        self.inside = False

    def __call__(self, spec: KernelSpec, name: str, function: Entry) -> Entry:
        """Return a chosen function that is looked at."""
        run = function if self.inner is None else self.inner(spec, name, function)
        return self._shown(spec, run)

    def wrap_widened(self, spec: KernelSpec, function: Entry) -> Entry:
        """Return the function that computes halves in float32, seen as one call."""
        outer = getattr(self.inner, "wrap_widened", None)
        run = function if outer is None else outer(spec, function)
        return self._shown(spec, run)

    def _shown(self, spec: KernelSpec, run: Entry) -> Entry:
        n, end = len(spec.outputs), len(spec.outputs) + len(spec.inputs)

        def call(*args: Any) -> None:
            seen = Seen(spec, args[:n], args[n:end], args[end:])
            self.see(seen, lambda: run(*args))

        return call

    def see(self, seen: Seen, run: Callable[[], Any]) -> None:
        """Let the call be looked at, unless it is a part of another."""
        if self.inside:
            run()
            return
        self.inside = True
        try:
            self.look(seen, run)
        finally:
            self.inside = False


_compute = Decomposed.compute
_call = Decomposed.__call__

#: How many blocks look.
_blocks = [0]


def _watched_compute(
    composite: Decomposed,
    operands: Any,
    attributes: tuple[Any, ...],
    wanted: int,
    free: Any = None,
) -> Any:
    """Run a decomposition that makes its outputs as one call."""
    results: list[Any] = []
    n = len(composite.spec.writes)
    seen = Seen(composite.spec, tuple(operands[:n]), tuple(operands[n:]), attributes)

    def run() -> None:
        found = _compute(composite, operands, attributes, wanted, free)
        results.append(found)
        seen.outputs = found if isinstance(found, tuple) else (found,)

    _seen_by(current().selection.wrap, seen, run)
    return results[0]


def _watched_call(composite: Decomposed, *args: Any) -> None:
    """Run a decomposition that fills given outputs as one call."""
    spec = composite.spec
    n = len(spec.outputs)
    end = n + len(spec.inputs)
    seen = Seen(spec, args[:n], args[n:end], args[end:])
    _seen_by(current().selection.wrap, seen, lambda: _call(composite, *args))


def _seen_by(watcher: Any, seen: Seen, run: Callable[[], Any]) -> None:
    """Show a call to a watcher, and to those around it first."""
    if not isinstance(watcher, Watcher):
        run()
        return
    outer = watcher.inner
    if isinstance(outer, Watcher):
        watcher.see(seen, lambda: _seen_by(outer, seen, run))
    else:
        watcher.see(seen, run)


def _watch_composites(change: int) -> None:
    _blocks[0] += change
    changed: Any = Decomposed
    looking = _blocks[0] > 0
    changed.compute = _watched_compute if looking else _compute
    changed.__call__ = _watched_call if looking else _call


@contextmanager
def calls_seen(where: str, look: Look) -> Iterator[None]:
    """Show every kernel call of the block to `look`.

    Raises
    ------
    CompileError
        If the block is in a function that is being recorded.
    """
    if recorder() is not None:
        raise CompileError(
            f"{where}: this runs in a function that ac.compile is recording; a replay "
            "does not run Python code. Put the `with` block around the call of the "
            "compiled function."
        )
    selection = current().selection
    watched = selection.derive(wrap=Watcher(look, selection.wrap))
    token = enter(selection=watched)
    _watch_composites(1)
    try:
        yield
    finally:
        _watch_composites(-1)
        leave(token)


@contextmanager
def lines_noted(layers: Layers) -> Iterator[None]:
    """Let nodes know their lines and layers; compiled functions run eagerly so long."""
    before = mode.set(True, mode.enabled and mode.check_nan)
    layer_of.append(layers.here)
    try:
        yield
    finally:
        layer_of.remove(layers.here)
        mode.set(*before)
