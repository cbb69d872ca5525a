# SPDX-License-Identifier: MIT
"""Records the kernel calls of one run of a function.

Recording is a way to dispatch: a selection whose decisions are wrapped, and whose
memory is known.  Eager code has no branch for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._compile._memory import Memory
from autocalc._compile._program import Instruction
from autocalc._dispatch._eager import pause
from autocalc._dispatch._plugins import registry
from autocalc._dispatch._select import Entry, Selection
from autocalc._dispatch._state import current, enter, leave, recordings
from autocalc._graph._lines import users_line
from autocalc._kernels.spec import KernelSpec
from autocalc.errors import CompileError


class Recorder:
    """A ``with`` block in which kernel calls are recorded.

    Attributes
    ----------
    memory
        The slots that were seen.
    instructions
        What ran, in order.
    refreshed
        Settings that the host reads again at each replay, as (dict's id, key).
    generators
        What the function draws from.
    written
        Slots that kernels or the host have written.
    failure
        Why there will be no program, where that is no error (`lenient`).
    """

    def __init__(self, *, lenient: bool = False) -> None:
        base = current().selection
        self.memory = Memory(base.empty)
        self.instructions: list[Instruction] = []
        self.refreshed: set[tuple[int, Any]] = set()
        self.generators: list[Any] = []
        self.written: set[int] = set()
        self.failure = ""
        self._lenient = lenient
        self._inside = False
        self._inner = base.wrap
        self.selection: Selection = base.derive(wrap=self.wrap)
        self.selection.empty = self.memory.empty
        self.selection.key_of = base.key_of
        self.selection.recorder = self

    def __enter__(self) -> Recorder:
        recordings.append(self)
        pause(True)
        self._token = enter(selection=self.selection)
        return self

    def __exit__(self, *error: object) -> None:
        leave(self._token)
        recordings.remove(self)
        pause(bool(recordings))

    def wrap(self, spec: KernelSpec, name: str, function: Entry) -> Callable[..., None]:
        """Return `function` of the set `name`, recorded whenever it is called."""
        impl = (registry().kernels(name) or {}).get(spec.name)
        native = None if impl is None or impl.function is not function else impl.native
        if self._inner is not None:
            function, native = self._inner(spec, name, function), None
        n, end = len(spec.outputs), len(spec.outputs) + len(spec.inputs)
        operand = self.memory.operand

        def call(*args: Any) -> None:
            if self._inside:  # what a kernel calls is a part of it
                function(*args)
                return
            operands = tuple(map(operand, args[:end]))
            self._inside = True
            try:
                function(*args)
            finally:
                self._inside = False
            outputs, inputs, attributes = operands[:n], operands[n:], args[end:]
            how = (spec, name, function, native)
            self._add(Instruction(*how, outputs, inputs, attributes, users_line()))

        return call

    def on_host(
        self,
        write: Callable[[], None],
        arrays: Sequence[Any],
        *,
        reads: Sequence[tuple[Any, Any]] = (),
        draws: Any = None,
    ) -> None:
        """Run Python that fills `arrays` now, and again at this place of each replay.

        `reads` names settings, as (dict, key), that it looks up each time; `draws` is
        the generator that it draws from.
        """
        self._inside = True
        try:
            write()
        finally:
            self._inside = False
        if draws is not None and draws not in self.generators:
            self.generators.append(draws)
        outputs = tuple(map(self.memory.view, arrays))
        self.refreshed.update((id(where), key) for where, key in reads)
        self._add(Instruction(None, "", write, None, outputs, (), (), users_line()))

    def _add(self, instruction: Instruction) -> None:
        slots = self.memory.slots
        for view in instruction.reads():
            if slots[view.slot].made and view.slot not in self.written:
                slots[view.slot].keep()
        self.written.update(view.slot for view in instruction.writes())
        self.instructions.append(instruction)

    def refuse(self, what: str) -> None:
        """Raise because a value is read, which no replay would do."""
        if self._inside:  # the host reads it again at each replay
            return
        message = (
            f"{what}: a value is read while ac.compile records, and a replay would "
            f"not read it again. Return the tensor and read it outside of the compiled "
            f"function, or compile a smaller part. It is read at {users_line()}"
        )
        if not self._lenient:
            raise CompileError(message)
        self.failure = self.failure or message
