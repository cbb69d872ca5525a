# SPDX-License-Identifier: MIT
"""Records a function of arrays as a short program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.selection.select import Entry
from autocalc._kernels.spec import Array, DType, Shape
from autocalc._program import _copies, _elementwise_fusion
from autocalc._program._form import Instruction, Program, Source
from autocalc._program._opaque import OpaqueArray, alias_of, plain
from autocalc._program._recorder import Recorder
from autocalc._program._steps import NoProgramError, Steps, steps_of
from autocalc._program._views import Operand, View

#: Setting up a chain takes 0.4 us, so chains with fewer elements would be slower.
LEAST = 8192


class Recorded(NamedTuple):
    """A recorded function before fusion: its inputs and results are views."""

    program: Program
    inputs: list[View]
    results: list[tuple[View, bool]]

    def steps(self) -> Steps:
        """Return the steps, with fewer copies and with fused chains of kernels."""
        program = _elementwise_fusion.run(_copies.run(self.program), least=LEAST)
        return steps_of(program, self.inputs, self.results)


class ShortRecorder(Recorder):
    """Records functions one after another; the selection keeps its decisions.

    Attributes
    ----------
    failed
        Whether there was a call that no short program can repeat.
    drawn
        The arrays of each draw.
    """

    failed: bool
    drawn: list[tuple[Any, Any]]
    _inputs: list[View]
    _in_place: bool

    def start(self, inputs: Sequence[Array], *, in_place: bool) -> None:
        """Begin a recording; with `in_place` the function may write its first input.

        The inputs are opaque arrays.
        """
        self._start()
        self.failed, self.drawn = False, []
        self._in_place = in_place
        for array in inputs:
            self.memory.add(alias_of(array), made=False)
        self._inputs = list(map(self.memory.view, inputs))

    def require(self, truth: Array) -> None:
        """Let the program stop unless an array of one truth value is true."""
        view = self.memory.view(truth)
        self._add(Instruction(None, "", required, None, (), (view,), ()))

    def leave_undefined(self, array: Array) -> None:
        """Allow the function to return new memory that nothing has written."""
        self.memory.slot_of(array).undefined = True

    def draw(
        self, now: Callable[[int], tuple[Any, Any]], source: Source
    ) -> tuple[Any, Any]:
        """Return two arrays drawn from a generator; the program draws from `source`."""
        seed, offset = pair = tuple(map(np.array, now(source.words)))
        for array in pair:
            self.memory.add(array, made=True)
        self.drawn.append((seed, offset))
        outputs = tuple(map(self.memory.view, pair))
        self._add(Instruction(None, "", source, None, outputs, (), ()))
        return seed, offset

    def finish(self, results: Sequence[Array]) -> Recorded:
        """Return the program recorded since `start`, which returns these arrays.

        Raises
        ------
        NoProgramError
            If no short program can repeat the function.
        """
        inputs = self._inputs
        found = [self.memory.view(array) for array in results]
        slots = self.memory.slots
        used = {v.slot for step in self.instructions for v in step.views()}
        used |= {view.slot for view in (*inputs, *found)}
        made = {i for i in used if slots[i].made}
        returned_slots = {view.slot for view in found}
        returned = made & returned_slots
        constants = {i: slots[i].array for i in used - made if i >= len(inputs)}
        unwritten = {i for i in made - self.written if not slots[i].undefined}
        known = all(map(_is_constant, constants.values()))
        if self.failed or unwritten or not known or constants.keys() & returned_slots:
            raise NoProgramError
        program = Program(
            self.instructions,
            {i: slots[i].nbytes for i in used},
            temporaries=made - returned,
            results=returned,
            others=used - made,
            constants=constants,
        )
        if any(0 in view.shape for step in self.instructions for view in step.views()):
            raise NoProgramError
        return Recorded(
            program,
            inputs,
            [(v, a.flags.writeable) for v, a in zip(found, results, strict=True)],
        )

    def _empty(self, shape: Shape, dtype: DType) -> Array:
        array = self._base.empty(shape, dtype)
        if not isinstance(array, np.ndarray):  # the memory is on a device
            self.failed = True
            return array
        self.memory.add(array, made=True)
        return array.view(OpaqueArray)

    def _operand(self, x: Any) -> Operand:
        arrays = x if isinstance(x, (list, tuple)) else (x,)
        if not all(one is None or isinstance(one, np.ndarray) for one in arrays):
            self.failed = True
            return None
        return super()._operand(x)

    def _run(self, function: Entry, args: tuple[Any, ...]) -> None:
        function(*map(plain, args))

    def _add(self, instruction: Instruction) -> None:
        slots = self.memory.slots
        for view in instruction.reads():
            if slots[view.slot].made and view.slot not in self.written:
                self.failed = True
        for view in instruction.writes():
            if not slots[view.slot].made and (view.slot or not self._in_place):
                self.failed = True
        super()._add(instruction)


class RequirementError(Exception):
    """A requirement of a program does not hold, so the function itself must run."""


def required(truth: Any) -> None:
    """Raise unless an array of one truth value is true."""
    if not truth:
        raise RequirementError


def _is_constant(owner: Any) -> bool:
    """Return whether memory that existed before is the same in each call.

    A number was made for this call, and the arguments determine it.  Other memory must
    be read-only.
    """
    own = type(owner) is np.ndarray and owner.base is None
    return own and (not owner.ndim or not owner.flags.writeable)
