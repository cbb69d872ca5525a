# SPDX-License-Identifier: MIT
"""Records one run of a function that is compiled: kernels, the host, callbacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autocalc._compile._origins import Origins
from autocalc._dispatch._callers import UserLine, users_line
from autocalc._dispatch.engine.eager import pause
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current, enter, leave, recordings
from autocalc._ops.callback import Callback
from autocalc._program._form import Instruction
from autocalc._program._recorder import Recorder
from autocalc._tensor import Tensor
from autocalc.errors import CompileError


class StepRecorder(Recorder):
    """A ``with`` block in which kernel calls are recorded.

    Attributes
    ----------
    refreshed
        Settings that the host reads again at each replay, as (dict's id, key).
    generators
        What the function draws from.
    failure
        Why there will be no program, where that is no error (`lenient`).

    Parameters
    ----------
    arguments
        Tensors that are others in each call.
    """

    def __init__(
        self, arguments: Sequence[Tensor] = (), *, lenient: bool = False
    ) -> None:
        super().__init__(current().selection)
        self._arguments = {id(x) for x in arguments if x._edge is None}
        self.refreshed: set[tuple[int, Any]] = set()
        self.generators: list[Any] = []
        self.failure = ""
        self._lenient = lenient
        self._origins = Origins()
        self.selection.recorder = self

    @property
    def is_inside(self) -> bool:
        """Whether a kernel runs, or the host: what they call is a part of them."""
        return self._inside

    def __enter__(self) -> StepRecorder:
        recordings.append(self)
        pause(True)
        self._token = enter(selection=self.selection)
        return self

    def __exit__(self, *error: object) -> None:
        leave(self._token)
        recordings.remove(self)
        pause(bool(recordings))

    def _line(self) -> UserLine | None:
        return self._origins.here()

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
        with self._within():
            write()
        if draws is not None and draws not in self.generators:
            self.generators.append(draws)
        outputs = tuple(map(self.memory.view, arrays))
        self.refreshed.update((id(where), key) for where, key in reads)
        self._add(Instruction(None, "", write, None, outputs, (), (), self._line()))

    def callback(
        self,
        function: Callable[..., Any],
        tensors: Sequence[Tensor],
        mutated: Sequence[Tensor],
    ) -> None:
        """Call a function of the user's now, unrecorded, and note it as a callback."""
        called = Callback(function, tensors)
        self._check_held(called)
        outputs, inputs = (
            tuple([self.memory.view(x._array) for x in some])
            for some in (mutated, tensors)
        )
        step = Instruction(None, "", called, None, outputs, inputs, (), self._line())
        self._before(step)
        self._add(step)
        try:
            with self._aside(), self.memory.lending((*outputs, *inputs)):
                called([x._array for x in tensors])
        finally:
            for tensor in mutated:
                tensor._bump()

    def _before(self, instruction: Instruction) -> None:
        """Let a copy fill, in each replay, what Python filled and a call changes."""
        reads = {view.slot for view in instruction.reads()}
        for index in {view.slot for view in instruction.writes()}:
            slot = self.memory.slots[index]
            new = slot.made and index not in self.written
            if new and slot.undefined:
                self.written.add(index)
            elif slot.kept or (new and (slot.filled or index in reads)):
                root = slot.array
                slot.unkeep()
                arrays.copy(arrays.frozen(root.copy()), into=root)
                self.instructions.insert(0, self.instructions.pop())

    def _check_held(self, called: Callback) -> None:
        """Raise if a callback holds a tensor that no replay would replace."""
        for tensor in called.held():
            made = self.memory.is_made(tensor._array)
            if made or id(tensor) in self._arguments:
                what = "that the step makes" if made else "that is an argument"
                message = (
                    f"callback: {called.name} holds a tensor of shape {tensor.shape} "
                    f"{what} among its variables, where a replay would find the old "
                    f"one. Give it among `tensors`. It is called at {users_line()}"
                )
                self._fail(message)

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Record nothing, and do not watch what Python looks at."""
        watching = sys.getprofile()
        sys.setprofile(None)
        token = enter(selection=self._base)
        try:
            yield
        finally:
            leave(token)
            sys.setprofile(watching)

    def _add(self, instruction: Instruction) -> None:
        slots = self.memory.slots
        for view in instruction.reads():
            if slots[view.slot].made and view.slot not in self.written:
                slots[view.slot].keep()
        super()._add(instruction)

    def refuse(self, what: str) -> None:
        """Raise because a value is read, which no replay would do."""
        if self._inside:  # the host reads it again at each replay
            return
        message = (
            f"{what}: a value is read while ac.compile records, and a replay would "
            f"not read it again. Return the tensor and read it outside of the compiled "
            f"function, or in an ac.callback, or compile a smaller part. It is read at "
            f"{users_line()}"
        )
        self._fail(message)

    def _fail(self, message: str) -> None:
        if not self._lenient:
            raise CompileError(message)
        self.failure = self.failure or message
