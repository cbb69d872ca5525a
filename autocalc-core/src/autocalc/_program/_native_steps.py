# SPDX-License-Identifier: MIT
"""Steps of a short program in the form that the native engine reads.

A step is (code, object, register, sizes, strides, offset, writable).  The engine has no
registers for constants.  An operand is one of three things: a register, -1 together
with an object, or -2 with the registers of a list.
"""

from __future__ import annotations

from typing import Any

from autocalc._program._steps import (
    Draw,
    Make,
    NoProgramError,
    Registers,
    Run,
    Step,
    Steps,
    TakeView,
)

#: The engine has room for this many registers of a program and operands of a call.
MAX_REGISTERS, MAX_OPERANDS = 64, 64

_MAKE, _VIEW, _RUN, _DRAW, _FREE, _CONSTANT = range(6)

_OBJECT, _LIST = -1, -2


def native_steps(steps: Steps) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the steps and the registers of the results for the engine.

    Raises
    ------
    NoProgramError
        If the engine has no room for them.
    """
    written = _Written(steps)
    found = [*written.listed(), *map(written.step, steps.steps)]
    if written.count > MAX_REGISTERS:
        raise NoProgramError
    return tuple(found), tuple(map(written.moved, steps.results))


class _Written:
    """Translates steps; constants in lists get registers after the inputs."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        runs = (step for step in steps.steps if isinstance(step, Run))
        lists = (x for run in runs for x in run.operands if isinstance(x, tuple))
        among = range(steps.n_inputs, steps.n_inputs + len(steps.constants))
        listed = sorted({one for x in lists for one in x if one in among})
        self._listed = {one: steps.n_inputs + i for i, one in enumerate(listed)}
        self._less = len(steps.constants) - len(listed)
        self.count = steps.n_registers - self._less

    def listed(self) -> list[Any]:
        """Return the steps that load constants into registers."""
        constants = (self._constant(one) for one in self._listed)
        return [(_CONSTANT, x, 0, (), (), 0, True) for x in constants]

    def _constant(self, register: int) -> Any:
        return self._steps.constants[register - self._steps.n_inputs]

    def moved(self, register: int) -> int:
        """Return the engine's number for a register."""
        if register < self._steps.n_inputs:
            return register
        return self._listed.get(register, register - self._less)

    def step(self, step: Step) -> tuple[Any, ...]:
        """Return the engine's form of a step."""
        if isinstance(step, Make):
            return _MAKE, step.dtype, 0, step.shape, (), 0, True
        if isinstance(step, TakeView):
            register, dtype, *how, _ = step
            return _VIEW, dtype, self.moved(register), *how
        if isinstance(step, Draw):
            return _DRAW, step.source.function, 0, (), (), step.source.words, True
        if isinstance(step, Run):
            return self._run(step)
        return _FREE, None, self.moved(step.register), (), (), 0, True

    def _run(self, step: Run) -> tuple[Any, ...]:
        pairs = list(map(self._operand, step.operands))
        if len(pairs) > MAX_OPERANDS:
            raise NoProgramError
        places, things = zip(*pairs, strict=True)
        return _RUN, step.function, int(step.writes_input), places, things, 0, True

    def _operand(self, x: Registers) -> tuple[int, Any]:
        if isinstance(x, tuple):
            return _LIST, tuple(map(self.moved, x))
        steps = self._steps
        if steps.n_inputs <= x < steps.n_inputs + len(steps.constants):
            return _OBJECT, self._constant(x)
        return self.moved(x), None
