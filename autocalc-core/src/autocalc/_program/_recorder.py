# SPDX-License-Identifier: MIT
"""Records the kernel calls of a function as instructions.

Recording works through dispatch: it uses a selection whose table entries are wrapped,
and whose memory is known.  Eager code has no branch for it::

    recorder = ShortRecorder(current().selection)
    token = enter(selection=recorder.selection)
    function()                                    # kernels run, and are noted
    leave(token)
    recorder.instructions
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch._callers import UserLine
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.select import Entry, Selection
from autocalc._kernels.spec import Array, DType, KernelSpec, Shape
from autocalc._program._form import Instruction
from autocalc._program._memory import Memory
from autocalc._program._views import Operand


class Recorder:
    """A selection that notes the calls of kernels.

    Attributes
    ----------
    selection
        The selection that decides like `base`, and notes each call.
    memory
        The slots seen so far.
    instructions
        The calls, in order.
    written
        The slots that kernels or the host have written.
    inside
        Whether a kernel or the host runs; calls made by either are part of it.

    Parameters
    ----------
    base
        The selection that makes the decisions.
    """

    memory: Memory
    instructions: list[Instruction]
    written: set[int]

    def __init__(self, base: Selection) -> None:
        self._base = base
        self.inside = False
        self._start()
        self.selection: Selection = base.derive(wrap=self.wrap)
        self.selection.empty = self._empty
        self.selection.key_of = base.key_of

    def _start(self) -> None:
        """Discard what was recorded."""
        self.memory = Memory(self._base.empty)
        self.instructions = []
        self.written = set()

    def wrap(self, spec: KernelSpec, name: str, function: Entry) -> Callable[..., None]:
        """Return `function` of the set `name`, wrapped to record each call."""
        native = _native(spec, name, function)
        if self._base.wrap is not None:
            function, native = self._base.wrap(spec, name, function), None
        n, end = len(spec.outputs), len(spec.outputs) + len(spec.inputs)

        def call(*args: Any) -> None:
            if self.inside:  # calls made by a kernel are part of it
                function(*args)
                return
            # `inside` is set here without `_within`, because each Python call costs
            # time while calls are watched.
            self.inside = True  # the recorder's own work is not recorded
            try:
                operands = tuple(map(self._operand, args[:end]))
                line = self._line()
                around = operands[:n], operands[n:], args[end:], line
                step = Instruction(spec, name, function, native, *around)
            finally:
                self.inside = False
            self._before(step)
            self.inside = True
            try:
                self._run(function, args)
                self._add(step)
            finally:
                self.inside = False

        return call

    def _within(self) -> _Within:
        """Record no calls in this block."""
        return _Within(self)

    def _empty(self, shape: Shape, dtype: DType) -> Array:
        """Return new memory."""
        before, self.inside = self.inside, True
        try:
            return self.memory.empty(shape, dtype)
        finally:
            self.inside = before

    def _operand(self, x: Any) -> Operand:
        """Return the view of an operand."""
        return self.memory.operand(x)

    def _line(self) -> UserLine | None:
        """Return the user's line that leads to a call."""
        return None

    def _before(self, instruction: Instruction) -> None:
        """Prepare for a call before it runs."""

    def _run(self, function: Entry, args: tuple[Any, ...]) -> None:
        """Run a kernel."""
        function(*args)

    def _add(self, instruction: Instruction) -> None:
        """Record a call that has run."""
        self.written.update([view.slot for view in instruction.writes()])
        self.instructions.append(instruction)


class _Within:
    """A ``with`` block of the recorder itself, whose calls are not recorded."""

    __slots__ = ("_before", "_recorder")

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._before = recorder.inside

    def __enter__(self) -> None:
        self._recorder.inside = True

    def __exit__(self, *error: object) -> None:
        self._recorder.inside = self._before


def _native(spec: KernelSpec, name: str, function: Entry) -> Any:
    """Return the C form of a set's kernel; None for a call that is wrapped."""
    found = registry()
    known = found.kernels(name) if name in found.sets else None
    impl = (known or {}).get(spec.name)  # None for a call that is widened
    return None if impl is None or impl.function is not function else impl.native
