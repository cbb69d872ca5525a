# SPDX-License-Identifier: MIT
"""Calls whose operands move with a number; a new number needs new arrays.

Passes and executors treat such a call as work of the host on whole ranges of memory.
They do not know which bytes in them it reads and writes.

For ``keys[:, t] = new`` of `_motion.py` the layout of the output is, in bytes::

    MovingView(place=0, dtype=float32, offset=(32, 0), shape=((0, 4), (0, 8)),
               strides=((0, 2048), (0, 4)))

This means offset 32 t + 0 and shape (4, 8).  A replay with t = 20 makes one new array,
at byte 640 of the slot.  Operands that do not move keep their arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._affine import Affine, at, moves
from autocalc._compile._motion import Motion, Range, most_bytes
from autocalc._dispatch.engine.eager import accelerated
from autocalc._dispatch.selection.call import KernelCall
from autocalc._kernels.spec import Array
from autocalc._program._form import Instruction, views_of
from autocalc._program._views import Operand, View

_BYTE = np.dtype(np.uint8)


class Number:
    """The number that calls depend on; it is set before each replay."""

    __slots__ = ("value",)

    def __init__(self, value: int) -> None:
        self.value = value


#: The slope and the start of the integer ``slope * t + start``.
Term = tuple[int, int]


class MovingView(NamedTuple):
    """The layout of an array in a piece of memory, which `place` selects.

    The offset, all sizes and all strides are terms.  Offset and strides are in bytes.
    """

    place: int
    dtype: Any
    offset: Term
    shape: tuple[Term, ...]
    strides: tuple[Term, ...]


def _layout(view: View, place: int, begin: int) -> MovingView:
    """Return the layout of a view; its offset counts from byte `begin` of the slot."""
    ((slope, start),) = _terms((view.offset,))
    shape, strides = _terms(view.shape), _terms(view.strides)
    return MovingView(place, view.dtype, (slope, start - begin), shape, strides)


def _terms(numbers: tuple[Any, ...]) -> tuple[Term, ...]:
    """Return the slope and the start of each number."""
    return tuple(
        [(n.slope, n.start) if isinstance(n, Affine) else (0, n) for n in numbers]
    )


class _Operand:
    """One array, which is made again if it moves or its memory changes."""

    __slots__ = ("_array", "_layout", "_memory", "_moves")

    def __init__(self, layout: MovingView) -> None:
        self._layout = layout
        terms = layout.offset, *layout.shape, *layout.strides
        self._moves = any(slope for slope, _ in terms)
        self._memory: Any = None
        self._array: Any = None

    def array(self, memory: tuple[Array, ...], t: int) -> Array:
        """Return the array for the value `t` of the number."""
        place, dtype, (slope, start), shape, strides = self._layout
        root = memory[place]
        if root is not self._memory or self._moves:
            self._memory = root
            sizes = [slope * t + start for slope, start in shape]
            steps = [slope * t + start for slope, start in strides]
            offset = slope * t + start
            self._array = np.ndarray(sizes, dtype, root, offset, steps)
        return self._array


class Operands:
    """The arrays of a call for each value of a number.

    Parameters
    ----------
    layouts
        The layout of each operand: one, a list of them, or None where it is absent.
    """

    def __init__(self, layouts: list[MovingView | list[MovingView] | None]) -> None:
        self._operands: list[Any] = [
            [_Operand(one) for one in x] if isinstance(x, list) else x and _Operand(x)
            for x in layouts
        ]

    def arrays(self, memory: tuple[Array, ...], t: int) -> list[Any]:
        """Return the operands for the value `t` of the number, in pieces of memory."""
        return [
            x.array(memory, t) if x.__class__ is _Operand else _list(x, memory, t)
            for x in self._operands
        ]


def _list(x: Any, memory: tuple[Array, ...], t: int) -> Any:
    """Return the arrays of an operand that is a list; None if it is absent."""
    return None if x is None else [one.array(memory, t) for one in x]


#: `Operands`, or the native engine's class in its place.
moving_operands: Callable[..., Operands] = accelerated("moving", Operands)


class Moving:
    """Runs one kernel on operands whose places depend on a number.

    It is called with the bytes of each slot that it uses, in the order of `slots`.

    Parameters
    ----------
    call
        The recorded call.
    moving
        Its outputs, inputs and attributes, with `Affine` where an integer moves.
    number
        The number that they depend on.
    ranges
        The range of bytes of each slot that the call is given.
    """

    def __init__(
        self,
        call: Instruction,
        moving: tuple[Any, Any, Any],
        number: Number,
        ranges: dict[int, Range],
    ) -> None:
        assert call.spec is not None, "the host's own work does not move"
        self._decide = KernelCall(call.spec) if call.spec.key == "shapes" else None
        self._number = number
        written = dict.fromkeys(view.slot for view in call.writes())
        read = dict.fromkeys(view.slot for view in views_of(call.inputs))
        self.written = tuple(written)
        self.slots = (*written, *(slot for slot in read if slot not in written))

        def layout(x: Any) -> Any:
            if isinstance(x, View):
                place = self.slots.index(x.slot)
                return _layout(x, place, ranges[x.slot].start)
            return x if x is None else list(map(layout, x))

        outputs, inputs, self._attributes = moving
        layouts = list(map(layout, (*outputs, *inputs)))
        self._arrays = moving_operands(layouts).arrays
        self._attributes_move = moves(self._attributes)
        self._n_outputs = len(outputs)
        self._n_given = len(self._attributes) - bool(call.spec.accumulates)
        self._wanted = sum(1 << i for i, x in enumerate(outputs) if x is not None)
        self._memory: tuple[Array, ...] = ()
        self._value: int | None = None
        self._run: Callable[..., Any] = call.function
        self._arguments: tuple[Any, ...] = ()

    def __call__(self, *memory: Array) -> None:
        value = self._number.value
        # New arrays are made only for a new number or for new memory, as renewed
        # results have.
        if value != self._value or not all(map(is_, memory, self._memory)):
            self._bind(memory, value)
        self._run(*self._arguments)

    def _bind(self, memory: tuple[Array, ...], value: int) -> None:
        """Make the arrays for a value of the number, and choose the kernel again."""
        arrays = self._arrays(memory, value)
        attributes = self._attributes
        if self._attributes_move:
            attributes = at(attributes, value)
        # The kernel was chosen for the recorded shapes. Where its spec says that the
        # choice depends on shapes, as for products, it is chosen again for the current
        # shapes.
        if self._decide is not None:
            n = self._n_outputs
            into = arrays[0] if n == 1 else tuple(arrays[:n])
            given = *arrays[n:], *attributes[: self._n_given]
            self._run, _ = self._decide.decided(*given, into=into, want=self._wanted)
        self._arguments = (*arrays, *attributes)
        self._memory, self._value = memory, value


def moving_instruction(
    call: Instruction, moves: tuple[Any, Any, Any], number: Number, motion: Motion
) -> Instruction:
    """Return the host's instruction that runs a moving call."""
    moving = Moving(call, moves, number, motion.ranges)
    written = len(moving.written)
    views: list[Operand] = [_bytes(slot, motion) for slot in moving.slots]
    return Instruction(
        *(None, call.chosen, moving, None),
        tuple(views[:written]),
        tuple(views[written:]),
        (),
        call.line,
        (call.name,),
    )


def _bytes(slot: int, motion: Motion) -> View:
    start, stop = motion.ranges[slot]
    size = most_bytes(motion, slot, stop - start)
    return View(slot, start, (size,), (1,), _BYTE)
