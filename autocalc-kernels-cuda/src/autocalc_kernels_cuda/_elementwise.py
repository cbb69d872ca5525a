# SPDX-License-Identifier: MIT
"""Elementwise kernels: how a call's arrays are read, worked out once for each kind.

What a call means to the device depends on shapes, strides, dtypes and attributes, and a
training step repeats the same few.  So the first call of a kind makes a plan, and the
next ones find it in a dict.  Dimensions that are one in memory are merged: most
calls are a run of elements without gaps.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import cupy
import numpy as np

from autocalc.plugin import DispatchKey
from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._types import BLOCK, CTYPES, blocks

#: As in `elementwise.cuh`.
MAX_INPUTS = 4
MAX_DIMS = 8
EACH = 4
_HEAD = struct.Struct("<5Q4Q4dq")  # struct Operands
_FLAT = np.dtype((np.void, _HEAD.size + 8 * MAX_INPUTS))
_STRIDED = np.dtype((np.void, _HEAD.size + 8 + 8 * MAX_DIMS * (2 + MAX_INPUTS)))

#: Shapes that never repeat must not fill the memory.
MAX_PLANS = 4096

Shape = tuple[int, ...]

#: ``choose(present, attributes)``: the operator's name in `elementwise.cu` and its
#: parameters; `present` says which inputs are there.
Choose = Callable[[tuple[bool, ...], tuple[Any, ...]], tuple[str, tuple[float, ...]]]


class Plan(NamedTuple):
    """How calls of one kind run."""

    kernel: Any
    grid: tuple[int]
    argument: Any  # the dtype of the kernel's argument
    params: tuple[float, ...]
    size: int
    tail: bytes  # what follows the operands in the argument


class Elementwise:
    """One elementwise kernel: a callable with its signature.

    Parameters
    ----------
    arity
        How many inputs it has; the rest of a call are attributes.
    choose
        Chooses the operator.
    source
        The file that has it.
    """

    def __init__(
        self, arity: int, choose: Choose, source: str = "elementwise.cu"
    ) -> None:
        self._arity = arity
        self._choose = choose
        self._source = source
        self._plans: dict[Any, Plan | None] = {}

    def __call__(self, out: Any, *arguments: Any) -> None:
        """Write the result to `out`."""
        given, attributes = arguments[: self._arity], arguments[self._arity :]
        key = (attributes, out.shape, out.strides, out.dtype, *map(_kind, given))
        plan = self._plans.get(key)
        if plan is None:
            if out.size == 0:
                return
            present = tuple([a is not None for a in given])
            plan = self._plan(out, _there(given), self._choose(present, attributes))
            if plan is None:
                self._in_order(out, arguments)
                return
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        _launch(plan, out, _there(given))

    def _plan(
        self, out: Any, inputs: Sequence[Any], operator: tuple[str, tuple[float, ...]]
    ) -> Plan | None:
        """Return how to run such calls; None for too many dimensions."""
        name, params = operator
        params = (*params, 0.0, 0.0, 0.0, 0.0)[:4]
        types = ", ".join(CTYPES[a.dtype] for a in (out, *inputs))
        shape, strides = merged(
            out.shape, [_strides(a, out.ndim) for a in (out, *inputs)]
        )
        strides += [(0,) * len(shape)] * (1 + MAX_INPUTS - len(strides))
        if _is_flat(strides):
            steps = [s[0] if s else 0 for s in strides[1:]]
            found = kernel(self._source, f"flat<{name}, {types}>")
            grid = (blocks(out.size, BLOCK * EACH),)
            tail = struct.pack("<4q", *steps)
            return Plan(found, grid, _FLAT, params, out.size, tail)
        if len(shape) > MAX_DIMS:
            return None
        index = "unsigned int" if out.size < 2**31 else "unsigned long long"
        found = kernel(self._source, f"strided<{index}, {name}, {types}>")
        padded = [(*s, *(0,) * (MAX_DIMS - len(shape))) for s in (shape, *strides)]
        flat = [number for row in padded for number in row]
        tail = struct.pack(f"<{1 + len(flat)}q", len(shape), *flat)
        return Plan(found, (blocks(out.size),), _STRIDED, params, out.size, tail)

    def _in_order(self, out: Any, arguments: tuple[Any, ...]) -> None:
        """Run by way of copies in order: more than 8 dimensions that do not merge."""
        copies = [
            cupy.ascontiguousarray(cupy.broadcast_to(a, out.shape))
            if isinstance(a, cupy.ndarray)
            else a
            for a in arguments
        ]
        result = cupy.empty(out.shape, out.dtype)
        self(result, *copies)
        out[...] = result


def _launch(plan: Plan, out: Any, inputs: Sequence[Any]) -> None:
    pointers, values = [0, 0, 0, 0], [0, 0, 0, 0]
    for i, a in enumerate(inputs):
        if isinstance(a, cupy.ndarray):
            pointers[i] = a.data.ptr
        else:
            values[i] = int.from_bytes(a.tobytes(), "little")
    head = _HEAD.pack(out.data.ptr, *pointers, *values, *plan.params, plan.size)
    argument = np.ndarray((), plan.argument, head + plan.tail)
    plan.kernel(plan.grid, (BLOCK,), (argument,))


def _there(given: Sequence[Any]) -> list[Any]:
    return [a for a in given if a is not None]


def _kind(a: Any) -> Any:
    """Return what a plan depends on; of a number on the host, its dtype alone."""
    if isinstance(a, cupy.ndarray):
        return a.shape, a.strides, a.dtype
    return None if a is None else a.dtype


def _strides(a: Any, ndim: int) -> Shape:
    """Return the strides in elements, 0 where `a` is repeated; `ndim` of them."""
    if not isinstance(a, cupy.ndarray):
        return (0,) * ndim
    own = [
        0 if n == 1 else s // a.itemsize
        for n, s in zip(a.shape, a.strides, strict=True)
    ]
    return (*(0,) * (ndim - a.ndim), *own)


def merged(shape: Shape, strides: Sequence[Shape]) -> tuple[Shape, list[Shape]]:
    """Return the same elements in as few dimensions as possible.

    `strides` are those of the output first, in whose order in memory they come.
    """
    dims = [i for i, n in enumerate(shape) if n != 1]
    dims.sort(key=lambda i: -strides[0][i])
    sizes: list[int] = []
    each: list[list[int]] = [[] for _ in strides]
    for i in dims:
        n = shape[i]
        if sizes and all(
            own[-1] == s[i] * n for own, s in zip(each, strides, strict=True)
        ):
            sizes[-1] *= n
            for own, s in zip(each, strides, strict=True):
                own[-1] = s[i]
            continue
        sizes.append(n)
        for own, s in zip(each, strides, strict=True):
            own.append(s[i])
    return tuple(sizes), [tuple(own) for own in each]


def _is_flat(strides: Sequence[Shape]) -> bool:
    if len(strides[0]) == 0:
        return True
    return (
        len(strides[0]) == 1
        and strides[0] == (1,)
        and all(s[0] in (0, 1) for s in strides)
    )


def supports(dtypes: frozenset[Any]) -> Callable[[DispatchKey], str | None]:
    """Return what refuses calls on other dtypes."""

    def supported(key: DispatchKey) -> str | None:
        for dtype in key.dtypes:
            if dtype is not None and dtype not in CTYPES:
                return f"no code for {dtype}"
        last = next(d for d in reversed(key.dtypes) if d is not None)
        if last not in dtypes:
            return f"takes {', '.join(sorted(map(str, dtypes)))}, not {last}"
        return None

    return supported
