# SPDX-License-Identifier: MIT
"""Steps of a short program, which allocates memory as it runs and has no arena.

Arrays are in numbered *registers*.  First come the inputs, then the constants (arrays
and attributes that no call changes), then the results of the steps.  This program
computes ``exp(x - y)`` of two matrices of 2 rows and 3 columns, and returns its
transpose::

    Make(float32, (2, 3))                                   makes register 2
    Run(sub, (2, 0, 1))
    Make(float32, (2, 3))                                   makes register 3
    Run(exp, (3, 2))
    Free(2)
    TakeView(3, float32, (3, 2), (4, 12), 0, True, True)    makes register 4
    results: 4
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from autocalc._kernels.spec import DType, Shape
from autocalc._program._form import Instruction, Program, Source
from autocalc._program._views import Operand, View, view_at

#: A register, or registers whose arrays are passed as a list.
Registers: TypeAlias = int | tuple[int, ...]


class NoProgramError(Exception):
    """A call that no short program can repeat."""


class Make(NamedTuple):
    """Make an array in the next register."""

    dtype: DType
    shape: Shape


class TakeView(NamedTuple):
    """Make a view of the array in a register.

    `is_dense` says whether the elements of that array are stored row by row without
    gaps.
    """

    register: int
    dtype: DType
    shape: Shape
    strides: Shape
    offset: int
    writable: bool
    is_dense: bool


class Run(NamedTuple):
    """Call a kernel, or the check of a requirement, with these registers."""

    function: Callable[..., Any]
    operands: tuple[Registers, ...]
    writes_input: bool


class Draw(NamedTuple):
    """Put the two arrays that a draw returns into the next two registers."""

    source: Source


class Free(NamedTuple):
    """Release the array in a register."""

    register: int


Step: TypeAlias = Make | TakeView | Run | Draw | Free


class Steps(NamedTuple):
    """A short program as a sequence of steps.

    Attributes
    ----------
    n_inputs
        The number of registers that are inputs.
    constants
        The contents of the registers after the inputs.
    steps
        The steps, in order.
    results
        The registers whose arrays are returned.
    """

    n_inputs: int
    constants: tuple[Any, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]

    @property
    def writes(self) -> bool:
        """Whether the program changes an input or the state of a generator."""
        return any(
            isinstance(step, Draw) or (isinstance(step, Run) and step.writes_input)
            for step in self.steps
        )

    @property
    def n_registers(self) -> int:
        """The number of registers that the program needs."""
        return self.n_inputs + len(self.constants) + sum(map(_n_made, self.steps))


def steps_of(
    program: Program, inputs: Sequence[View], results: Sequence[tuple[View, bool]]
) -> Steps:
    """Return the steps of a program whose first registers hold `inputs`.

    `results` contains, for each result, its view and whether its array is writable.

    Raises
    ------
    NoProgramError
        If a view uses an input's memory outside of that input.
    """
    lowering = _Lowering(program, inputs, [view for view, _ in results])
    for instruction in program.instructions:
        lowering.add(instruction)
    return lowering.finished([lowering.result(*result) for result in results])


class _Lowering:
    """Assigns registers to views; those of constants are negative until the end."""

    def __init__(
        self, program: Program, inputs: Sequence[View], results: Sequence[View]
    ) -> None:
        self._program = program
        every = (view for one in program.instructions for view in one.views())
        #: For each slot: a view that covers all of it, row by row.
        self._lines = {
            view.slot: view
            for view in (*every, *results)
            if view.nbytes == program.sizes[view.slot]
            and view.strides == dense_strides(view)
        }
        self._n_inputs = self._count = len(inputs)
        self._registers = {view: i for i, view in enumerate(inputs)}
        #: For each slot: the view from which all other views of the slot are made.
        self._whole = {view.slot: view for view in inputs}
        self._constants: list[Any] = []
        self._steps: list[Step] = []

    def add(self, instruction: Instruction) -> None:
        """Append the steps of an instruction."""
        if isinstance(instruction.function, Source):
            for view in instruction.writes():
                self._registers[view] = self._count
                self._whole[view.slot] = view
                self._count += 1
            self._steps.append(Draw(instruction.function))
            return
        operands = (*instruction.outputs, *instruction.inputs)
        registers = [self._operand(x) for x in operands]
        registers += [self._constant(x) for x in instruction.attributes]
        written = {view.slot for view in instruction.writes()}
        writes_input = bool(written & self._program.others)
        self._steps.append(Run(instruction.function, tuple(registers), writes_input))

    def _operand(self, x: Operand) -> Registers:
        if x is None:
            return self._constant(None)
        return self.register(x) if isinstance(x, View) else tuple(map(self.register, x))

    def _constant(self, x: Any) -> int:
        for i, known in enumerate(self._constants):
            if known is x:
                return -1 - i
        self._constants.append(x)
        return -len(self._constants)

    def register(self, view: View) -> int:
        """Return the register of a view; make the view if it is new."""
        found = self._registers.get(view)
        if found is not None:
            return found
        owner = self._program.constants.get(view.slot)
        if owner is not None:
            made = self._constant(view_at(owner, view.offset, view))
        elif view.slot in self._whole:
            made = self._view(view)
        else:
            self._make(view)
            return self.register(view)
        self._registers[view] = made
        return made

    def _make(self, view: View) -> None:
        """Make a slot's memory: as a view that covers it, or else one-dimensional."""
        size, item = self._program.sizes[view.slot], view.dtype.itemsize
        line = View(view.slot, 0, (size // item,), (item,), view.dtype)
        whole = self._lines.get(view.slot, line)
        self._whole[view.slot] = whole
        self._registers[whole] = self._next(Make(whole.dtype, whole.shape))

    def _view(self, view: View, *, writable: bool = True) -> int:
        whole = self._whole[view.slot]
        if view.offset < whole.offset or view.stop > whole.stop:
            raise NoProgramError
        is_dense = whole.strides == dense_strides(whole)
        offset = view.offset - whole.offset
        how = view.dtype, view.shape, view.strides, offset, writable, is_dense
        return self._next(TakeView(self._registers[whole], *how))

    def result(self, view: View, writable: bool) -> int:
        """Return the register of a result."""
        whole = self._whole.get(view.slot)
        if writable or whole is None:
            return self.register(view)
        return self._view(view, writable=False)

    def _next(self, step: Step) -> int:
        self._steps.append(step)
        self._count += 1
        return self._count - 1

    def finished(self, results: list[int]) -> Steps:
        """Return the steps; each register is freed after its last use."""
        last = {
            register: i
            for i, step in enumerate(self._steps)
            for register in _used(step)
            if register >= self._n_inputs and register not in results
        }
        ended: dict[int, list[int]] = {}
        for register, i in last.items():
            ended.setdefault(i, []).append(register)
        steps: list[Step] = []
        for i, step in enumerate(self._steps):
            steps.append(self._numbered(step))
            steps += [Free(self._moved(one)) for one in ended.get(i, ())]
        moved = tuple(map(self._moved, results))
        return Steps(self._n_inputs, tuple(self._constants), tuple(steps), moved)

    def _moved(self, register: int) -> int:
        """Return a register's final number, where constants follow the inputs."""
        if register < 0:
            return self._n_inputs - 1 - register
        new = register >= self._n_inputs
        return register + len(self._constants) if new else register

    def _numbered(self, step: Step) -> Step:
        if isinstance(step, TakeView):
            return step._replace(register=self._moved(step.register))
        if not isinstance(step, Run):
            return step
        operands = tuple(
            self._moved(x) if isinstance(x, int) else tuple(map(self._moved, x))
            for x in step.operands
        )
        return step._replace(operands=operands)


def _used(step: Step) -> Iterator[int]:
    """Yield the registers that a step reads."""
    if isinstance(step, TakeView):
        yield step.register
    if isinstance(step, Run):
        for x in step.operands:
            yield from (x,) if isinstance(x, int) else x


def _n_made(step: Step) -> int:
    return 2 if isinstance(step, Draw) else int(isinstance(step, (Make, TakeView)))


def dense_strides(view: View) -> Shape:
    """Return the strides of an array of this shape that is stored row by row."""
    strides, step = [], view.dtype.itemsize
    for n in reversed(view.shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))
