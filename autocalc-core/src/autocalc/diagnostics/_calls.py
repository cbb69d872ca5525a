# SPDX-License-Identifier: MIT
"""Kernel calls shown to observers as they happen; free without an observer.

Dispatch lets counters and recorders wrap the kernels that it selects; observers use the
same mechanism, and so see each call.  A composite that runs as its decomposition is
seen as one call.  Kernels that another kernel calls are part of that call.
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
    """One kernel call; its outputs are known after it has run.

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
        """Return the outputs that the call also reads."""
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
    """Wraps selected kernels, and passes each call to ``look(seen, run)`` to run it."""

    def __init__(self, look: Look, inner: Any) -> None:
        self.look = look
        self.inner = inner
        self.inside = False

    def __call__(self, spec: KernelSpec, name: str, function: Entry) -> Entry:
        """Return a selected function, wrapped so that its calls are observed."""
        run = function if self.inner is None else self.inner(spec, name, function)
        return self._shown(spec, run)

    def wrap_widened(self, spec: KernelSpec, function: Entry) -> Entry:
        """Return the function that computes half precision in float32, as one call."""
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
        """Show the call to the observer, unless it is part of another call."""
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

#: The number of active blocks.
_blocks = [0]


def _watched_compute(
    composite: Decomposed,
    operands: Any,
    attributes: tuple[Any, ...],
    wanted: int,
    free: Any = None,
) -> Any:
    """Run a decomposition that allocates its outputs, seen as one call."""
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
    """Run a decomposition that fills given outputs, seen as one call."""
    spec = composite.spec
    n = len(spec.outputs)
    end = n + len(spec.inputs)
    seen = Seen(spec, args[:n], args[n:end], args[end:])
    _seen_by(current().selection.wrap, seen, lambda: _call(composite, *args))


def _seen_by(watcher: Any, seen: Seen, run: Callable[[], Any]) -> None:
    """Show a call to the outer watchers first, then to this one."""
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
    """Record the line and layer of each node; run compiled functions eagerly."""
    before = mode.set(True, mode.enabled and mode.check_nan)
    layer_of.append(layers.here)
    try:
        yield
    finally:
        layer_of.remove(layers.here)
        mode.set(*before)
