# SPDX-License-Identifier: MIT
"""Runs short programs in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autocalc._kernels.adapter import quietly
from autocalc._kernels.spec import Array
from autocalc._program._executor import (
    EXTEND,
    FREE,
    MAKE,
    RETURN,
    RUN,
    TAKE,
    BoundStep,
    execute,
    operands_of,
)
from autocalc._program._steps import Draw, Make, Registers, Run, Step, Steps, TakeView
from autocalc._program._views import View, view_at


class ShortExecutor:
    """A short program bound to an allocator.

    Attributes
    ----------
    constants, steps, empty
        The contents of the registers after the inputs, and arguments of `execute`.
    results
        The registers of the results.
    writes
        Whether the program changes an input or the state of a generator.
    """

    __slots__ = ("constants", "empty", "results", "steps", "writes")

    def __init__(self, steps: Steps, empty: Callable[[Any, Any], Any]) -> None:
        self.constants = steps.constants
        self.empty = empty
        self.results = steps.results
        self.steps: list[BoundStep] = [_bound(step) for step in steps.steps]
        self.writes = steps.writes

    def run(self, inputs: Sequence[Array]) -> list[Any]:
        """Run the program; return the arrays of the results."""
        registers = [*inputs, *self.constants]
        execute(self.steps, registers, self.empty)
        return [registers[i] for i in self.results]

    def shorten(self, steps: Steps, inputs: Sequence[Array]) -> None:
        """Let kernels return new results instead of writing to memory, where they can.

        This runs each kernel both ways and compares the results.  The returned result
        must be an array of its own, with the strides of the array into which the kernel
        would write.  A program that writes stays unchanged, because this runs it once
        more.
        """
        if not self.writes:
            registers = [*inputs, *self.constants]
            self.steps = list(_fresh(steps, registers, self.empty))


def _bound(step: Step) -> BoundStep:
    if isinstance(step, Run):
        return RUN, step.function, operands_of(step.operands)
    if isinstance(step, Make):
        return MAKE, step.dtype, step.shape
    if isinstance(step, TakeView):
        return TAKE, _taking(step), step.register
    if isinstance(step, Draw):
        return EXTEND, step.source.function, step.source.words
    return FREE, None, step.register


def _taking(step: TakeView) -> Callable[[Array], Array]:
    """Return a function that makes a view of an array."""
    _, dtype, shape, strides, offset, writable, is_dense = step
    if is_dense and writable:
        return partial(np.ndarray, shape, dtype, offset=offset, strides=strides)
    view = View(0, offset, shape, strides, dtype)

    def take(array: Array) -> Array:
        made = view_at(array, 0, view)
        made.flags.writeable &= writable
        return made

    return take


def _fresh(
    steps: Steps, registers: list[Any], empty: Callable[[Any, Any], Any]
) -> list[BoundStep]:
    found: list[BoundStep] = []
    for step in steps.steps:
        bound = _bound(step)
        found.append(bound)
        if isinstance(step, Run):
            made = len(found) > 1 and found[-2][0] == MAKE
            new = len(registers) - 1
            operands = bound[2](registers)
            fresh = getattr(step.function, "fresh", None)
            step.function(*operands)
            if made and fresh is not None and step.operands[0] == new:
                result = quietly(fresh, *operands[1:])
                if _is_like(result, operands):
                    found[-2:] = [_returning(fresh, step.operands[1:])]
        else:
            execute([bound], registers, empty)
    return found


def _returning(fresh: Any, operands: tuple[Registers, ...]) -> BoundStep:
    """Return the step that appends the return value of a function."""
    if len(operands) == 1 and not isinstance(operands[0], tuple):
        return TAKE, fresh, operands[0]
    return RETURN, fresh, operands_of(operands)


def _is_like(result: Any, operands: Any) -> bool:
    """Return whether a result equals the first operand, and is none of the others."""
    out, *others = operands
    return (
        result.__class__ is np.ndarray
        and result.base is None
        and not any(result is x for x in others)
        and (result.dtype, result.shape) == (out.dtype, out.shape)
        and result.strides == out.strides
        and result.tobytes() == out.tobytes()
    )
