# SPDX-License-Identifier: MIT
"""Records one run of a compiled function: kernels, the host's work, callbacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autocalc._compile._host_numbers import numbers_in
from autocalc._compile._origins import Origin, Origins
from autocalc._compile._settings import is_setting
from autocalc._dispatch._callers import UserLine, users_line
from autocalc._dispatch.engine.eager import pause
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current, enter, leave, recordings
from autocalc._ops.callback import Callback
from autocalc._program._form import Instruction, Settings
from autocalc._program._recorder import Recorder
from autocalc._tensor import Tensor
from autocalc.errors import CompileError


class Decision:
    """A question about AutoCalc's own state; a program is valid for one answer."""

    is_number = False
    code = None

    def __init__(self, question: Callable[[], bool]) -> None:
        self.what = "the answer to a question"
        self.source = id(self), "decided"
        self._question = question
        self.answer = question()

    def holds(self) -> bool:
        """Return whether the answer is unchanged."""
        return self._question() == self.answer

    def join(self, group: Any) -> bool:
        """Return False: no group compares this guard."""
        del group
        return False


class StepRecorder(Recorder):
    """A ``with`` block in which kernel calls are recorded.

    Attributes
    ----------
    refreshed
        Settings that the host reads again at each replay, as (dict's id, key).
    rewritten
        Settings that the host changes at each replay.
    generators
        The random generators from which the function draws.
    decisions
        The answers on which AutoCalc's own code has based decisions.
    failure
        The reason why there will be no program, where that raises no error (`lenient`).

    Parameters
    ----------
    arguments
        The tensors that differ from call to call.
    """

    def __init__(
        self, arguments: Sequence[Tensor] = (), *, lenient: bool = False
    ) -> None:
        super().__init__(current().selection)
        self._arguments = {id(x) for x in arguments if x._edge is None}
        self.refreshed: set[tuple[int, Any]] = set()
        self.rewritten: set[tuple[int, Any]] = set()
        self.generators: list[Any] = []
        self.decisions: list[Decision] = []
        self.failure = ""
        self._lenient = lenient
        self._origins = Origins()
        self.selection.recorder = self

    def __enter__(self) -> StepRecorder:
        recordings.append(self)
        pause(recordings, True)
        autocast = current().autocast
        if autocast is not None:  # a replay would not make casts from before
            autocast = autocast.emptied()
        self._token = enter(selection=self.selection, autocast=autocast)
        return self

    def __exit__(self, *error: object) -> None:
        leave(self._token)
        recordings.remove(self)
        pause(recordings, bool(recordings))

    def _line(self) -> UserLine | None:
        return self._origins.here()

    def on_host(
        self,
        write: Callable[[], None],
        arrays: Sequence[Any] = (),
        *,
        looks: Sequence[Any] = (),
        reads: Sequence[tuple[Any, Any]] = (),
        writes: Sequence[tuple[Any, Any]] = (),
        draws: Any = None,
    ) -> None:
        """Run Python that fills `arrays` now, and at the same place of each replay.

        `looks` are arrays whose values it reads.  `reads` names the settings that it
        looks up each time, as (dict, key).  `writes` names the settings that it
        changes.  `draws` is the generator from which it draws.
        """
        if self.inside:
            write()
            return
        with self._within():
            write()
        if draws is not None and draws not in self.generators:
            self.generators.append(draws)
        outputs, inputs = (tuple(map(self.memory.view, x)) for x in (arrays, looks))
        self.refreshed.update((id(where), key) for where, key in reads)
        self.rewritten.update((id(where), key) for where, key in writes)
        around = outputs, inputs, (), self._line()
        self._add(Instruction(None, "", write, None, *around))

    def check(self, check: Callable[..., None], arrays: Sequence[Any]) -> None:
        """Let a function check the values of arrays, now and in each replay."""
        if self.inside:
            check(*arrays)
            return
        with self._within():
            check(*arrays)
        around = (), tuple(map(self.memory.view, arrays)), (), self._line()
        self._add(Instruction(None, "", check, None, *around, fused=("check",)))

    def host_numbers(
        self,
        compute: Callable[[], tuple[float, ...]],
        arrays: Sequence[Any],
        reads: Sequence[tuple[Any, Any]],
    ) -> tuple[float, ...]:
        """Return numbers that the host computes now, and at this place of replays."""
        if self.inside:
            return compute()
        now: list[Any] = []

        def refresh() -> None:
            now[:] = compute()

        self.on_host(refresh, looks=arrays, reads=reads)
        return numbers_in(now, self.on_host)

    def rereads(self, settings: Callable[[], tuple[Any, ...]], where: Any) -> None:
        """Note that the last kernel's attributes are settings that may change."""
        if not self.inside:
            keys = ((id(where), k) for k, x in where.items() if is_setting(x))
            self.instructions[-1].settings = Settings(settings, frozenset(keys))

    def decided(self, question: Callable[[], bool]) -> bool:
        """Return the answer to a question, for which alone a program is valid."""
        if self.inside:
            return question()
        self.decisions.append(Decision(question))
        return self.decisions[-1].answer

    def callback(
        self,
        function: Callable[..., Any],
        tensors: Sequence[Tensor],
        mutated: Sequence[Tensor],
    ) -> None:
        """Call a user's function now, unrecorded, and record it as a callback."""
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
        """Restore, in each replay, what Python filled before a call that changes it."""
        slots = self.memory.slots
        reads = [view.slot for view in instruction.reads()]
        for view in instruction.writes():
            index = view.slot
            slot = slots[index]
            new = slot.made and index not in self.written
            if not (new or slot.kept):
                continue
            if new and slot.undefined:
                self.written.add(index)
            elif slot.kept or slot.filled or index in reads:
                root = slot.array
                slot.unkeep()
                arrays.copy(arrays.frozen(root.copy()), into=root)
                self.instructions.insert(0, self.instructions.pop())

    def _check_held(self, called: Callback) -> None:
        """Raise if a callback holds a tensor that differs from call to call."""
        for tensor in called.held():
            made = self.memory.is_made(tensor._array)
            if made or id(tensor) in self._arguments:
                what = "that the step makes" if made else "that is an argument"
                message = (
                    f"callback: {called.name} refers to a tensor of shape "
                    f"{tensor.shape} {what} through its variables, so a replay would "
                    "use the old tensor. Pass the tensor in `tensors`. The callback "
                    f"is called at {users_line()}"
                )
                self._fail(message)

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Record nothing, and do not watch Python code."""
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

    def refuse(self, what: str, instead: str = "") -> None:
        """Raise because Python reads a tensor's value, which a replay would not do."""
        if self.inside:  # the host reads the value again in each replay
            return
        instead = instead or (
            "Return the tensor and read it outside of the compiled function, or in an "
            "ac.callback, or compile a smaller part"
        )
        message = (
            f"{what}: the value of a tensor is read while ac.compile records, and a "
            f"replay would not read it again. {instead}. It is read{self._by()} at "
            f"{users_line()}"
        )
        self._fail(message)

    def _by(self) -> str:
        """Return a text with the operator and the module that run."""
        origin = self._line()
        if not isinstance(origin, Origin):
            return ""
        operator = origin.site.operator and f" by {origin.site.operator}"
        return operator + (origin.module and f" in {origin.module}")

    def _fail(self, message: str) -> None:
        if not self._lenient:
            raise CompileError(message)
        self.failure = self.failure or message
