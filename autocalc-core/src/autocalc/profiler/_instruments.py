# SPDX-License-Identifier: MIT
"""Record calls other than kernels while a profile runs.

Modules, backward rules, optimizers and compiled functions are each called through one
method of their class.  A profile replaces this method while it runs, in the same way as
anomaly mode does to record lines (`_graph/_lines.py`).  Without a profile, there is no
cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from sys import _getframe
from threading import get_ident
from typing import Any
from weakref import WeakKeyDictionary

from autocalc._compile._function import Compiled
from autocalc._compile._replay import Replay
from autocalc._dispatch._callers import Site
from autocalc._dispatch.selection.select import Selection
from autocalc._dispatch.selection.state import current, enter, leave, recorder
from autocalc._graph._node import Node
from autocalc._ops._operator.rules import OPS, Op
from autocalc.nn import Module
from autocalc.optim import Optimizer
from autocalc.profiler._programs import Programs
from autocalc.profiler._recording import Recording


class Instruments:
    """Replaces methods during a profile, and restores them.

    Parameters
    ----------
    recording
        The recording that receives the calls.
    base
        The selection of kernels outside of the profile.  Compiled functions continue to
        use it, so their programs do not change.
    """

    def __init__(self, recording: Recording, base: Selection) -> None:
        self._recording = recording
        self._base = base
        self._plain: WeakKeyDictionary[Selection, Selection] = WeakKeyDictionary()
        self._programs = Programs(recording)
        self._before: list[tuple[Any, str, Any, Any]] = []

    def install(self) -> None:
        """Replace the methods, to record calls."""
        self._put(Compiled, "__call__", self._compiled(Compiled.__call__))
        self._put(Replay, "run", self._replay(Replay.run))
        self._put(Module, "__call__", self._module(Module.__call__))
        self._put(Optimizer, "step", self._step(Optimizer.step))
        for op in OPS:
            self._put(op, "rule", self._rule(op))

    def remove(self) -> None:
        """Restore the methods."""
        while self._before:
            where, name, value, put = self._before.pop()
            if getattr(where, name) is put:  # unless it was replaced again
                setattr(where, name, value)

    def _put(self, where: Any, name: str, value: Any) -> None:
        self._before.append((where, name, getattr(where, name), value))
        setattr(where, name, value)

    # ---- replacements --------------------------------------------------------------

    def _module(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recording = self._recording

        @wraps(original)
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            if recording.is_elsewhere():
                return original(module, *args, **kwargs)
            before = recording.enter(module)
            try:
                return original(module, *args, **kwargs)
            finally:
                recording.leave(before)

        return call

    def _rule(self, op: Op) -> Callable[..., Any]:
        recording, original = self._recording, op.rule
        site = Site(op.name, "backward")

        def rule(k: Any, n: Any, g: Any) -> Any:
            if recording.closed or get_ident() != recording.thread:
                return original(k, n, g)
            frame = _getframe(1)
            recording.caller, recording.caller_at = frame.f_code, frame.f_lasti
            before = recording.site, recording.serial
            recording.site = site
            serial = n.serial if isinstance(n, Node) else n.node.serial
            recording.serial = recording.last = serial
            try:
                return original(k, n, g)
            finally:
                recording.site, recording.serial = before

        return rule

    def _step(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recording = self._recording

        @wraps(original)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(optimizer, *args, **kwargs)
            recording.step(asked=False)
            return result

        return step

    def _compiled(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Make compiled functions select kernels as without a profile."""
        recording = self._recording

        @wraps(original)
        def call(compiled: Any, *args: Any, **kwargs: Any) -> Any:
            nested = recording.muted or recorder() is not None
            if nested or get_ident() != recording.thread:
                return original(compiled, *args, **kwargs)
            before = None if recording.closed else recording.enter(compiled)
            token = enter(selection=self._without(current().selection))
            recording.muted = True
            try:
                with self._without_replaced_methods():
                    return original(compiled, *args, **kwargs)
            finally:
                recording.muted = False
                leave(token)
                if before is not None:
                    recording.leave(before)
                if recording.pending:
                    recording.pending = False
                    recording.step(asked=False)

        return call

    @contextmanager
    def _without_replaced_methods(self) -> Iterator[None]:
        """Restore, during the block, the methods that compiled programs guard."""
        seen = [
            (where, name, value, put)
            for where, name, value, put in self._before
            if where in (Module, Optimizer) and vars(where)[name] is put
        ]
        for where, name, value, _ in seen:
            setattr(where, name, value)
        try:
            yield
        finally:
            for where, name, _, put in seen if self._before else ():
                setattr(where, name, put)

    def _without(self, selection: Selection) -> Selection:
        """Return the selection as it would be without the profile."""
        if selection is self._recording.selection:
            return self._base
        found = self._plain.get(selection)
        if found is None:
            found = self._plain[selection] = selection.derive(wrap=self._base.wrap)
        return found

    def _replay(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recording, programs = self._recording, self._programs

        @wraps(original)
        def run(replay: Any, tensors: list[Any]) -> Any:
            if recording.closed or get_ident() != recording.thread:
                return original(replay, tensors)
            timed, is_step = programs.of(replay, tensors)
            plain, replay._around = replay._around, timed
            try:
                result = original(replay, tensors)
            finally:
                replay._around = plain
            if len(recording.events) >= recording.limit:
                recording.fill()
            recording.pending |= is_step
            return result

        return run
