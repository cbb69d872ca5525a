# SPDX-License-Identifier: MIT
"""Reductions over any dimensions: sum, mean, product, extremes and where they are.

How terms are shared among threads depends on shapes and strides alone, so the same call
gives the same bits each time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import cupy
import numpy as np

from autocalc.plugin import DispatchKey, KernelImpl
from autocalc_kernels_cuda._elementwise import MAX_DIMS, MAX_PLANS, merged
from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._types import BLOCK, CTYPES, FLOATS, blocks

_WARP = 32
_HEAD = struct.Struct("<3Q6qd")
_ARGUMENT = np.dtype((np.void, _HEAD.size + 4 * 8 * MAX_DIMS))

#: Blocks that keep a large GPU busy, and the terms that a block is worth starting for.
_BUSY = 528
_TERMS = 2048

Shape = tuple[int, ...]
Axes = tuple[int, ...]


class Plan(NamedTuple):
    """How calls of one kind run."""

    kernel: Any
    grid: tuple[int, int]
    block: tuple[int, int]
    splits: int
    finish: Any  # the kernel that puts splits together, None for one
    outputs: int
    terms: int
    kept_dims: int
    reduced_dims: int
    divisor: float
    tail: bytes
    partial_bytes: int


class Reduce:
    """One operator of `reduce.cu`: ``reduce(out, a, axes)``."""

    def __init__(self, operator: str) -> None:
        self._operator = operator
        self._plans: dict[Any, Plan | None] = {}

    def __call__(self, out: Any, a: Any, axes: Axes, accumulate: bool = False) -> None:
        """Reduce `a` over `axes` into `out`, or add the result to it."""
        if out.size == 0:
            return
        if not out.flags.c_contiguous:
            result = cupy.array(out, order="C")
            self(result, a, axes, accumulate)
            out[...] = result
            return
        key = (a.shape, a.strides, a.dtype, axes, out.dtype)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(out, a, axes)
            if plan is None:  # too many dimensions that do not merge
                self(out, cupy.ascontiguousarray(a), axes, accumulate)
                return
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        _launch(plan, out, a, accumulate)

    def _plan(self, out: Any, a: Any, axes: Axes) -> Plan | None:
        kept = [i for i in range(a.ndim) if i not in axes]
        kept_shape, kept_strides = _merged_in_order(a, kept)
        shape, strides = _merged_in_order(a, list(axes))
        if len(kept_shape) > MAX_DIMS or len(shape) > MAX_DIMS:
            return None
        count, outputs = math.prod(shape), out.size
        operator = f"{self._operator}<{CTYPES[a.dtype]}>"
        types = f"{CTYPES[a.dtype]}, {CTYPES[out.dtype]}"
        side_by_side = _terms_side_by_side(kept_strides, strides)
        if side_by_side:
            x = _WARP if count <= 1024 else BLOCK
            found = kernel("reduce.cu", f"rows<{operator}, {types}, {x}>")
            block, wide = (x, BLOCK // x), blocks(outputs, BLOCK // x)
            terms = _TERMS if x == BLOCK else count
        else:
            found = kernel("reduce.cu", f"columns<{operator}, {types}>")
            block, wide = (_WARP, BLOCK // _WARP), blocks(outputs, _WARP)
            terms = _TERMS // 16
        splits = max(1, min(blocks(count, max(terms, 1)), blocks(_BUSY, wide), 65535))
        finish = None
        if splits > 1:
            finish = kernel(
                "reduce.cu", f"finish_splits<{operator}, {CTYPES[out.dtype]}>"
            )
        rows = (kept_shape, kept_strides, shape, strides)
        padded = [n for row in rows for n in (*row, *(0,) * (MAX_DIMS - len(row)))]
        return Plan(
            found, (wide, splits), block, splits, finish, outputs, count,
            len(kept_shape), len(shape), float(count),
            struct.pack(f"<{len(padded)}q", *padded), 16 * splits * outputs,
        )  # fmt: skip


def _launch(plan: Plan, out: Any, a: Any, accumulate: bool) -> None:
    partial = None
    if plan.splits > 1:
        partial = cupy.cuda.alloc(plan.partial_bytes)
    head = _HEAD.pack(
        a.data.ptr, out.data.ptr, partial.ptr if partial is not None else 0,
        plan.outputs, plan.terms, plan.splits, plan.kept_dims, plan.reduced_dims,
        accumulate, plan.divisor,
    )  # fmt: skip
    argument = np.ndarray((), _ARGUMENT, head + plan.tail)
    plan.kernel(plan.grid, plan.block, (argument,))
    if plan.finish is not None:
        plan.finish((blocks(plan.outputs),), (BLOCK,), (argument,))


def _terms_side_by_side(kept: Shape, reduced: Shape) -> bool:
    """Return whether an output's terms are closer in memory than outputs are."""
    if not kept or kept[-1] == 0:
        return True
    return bool(reduced) and reduced[-1] < kept[-1]


def _merged_in_order(a: Any, dims: list[int]) -> tuple[Shape, Shape]:
    """Return these dimensions in as few as possible, in their order in the shape."""
    shape = tuple([a.shape[i] for i in dims])
    strides = tuple([a.strides[i] // a.itemsize for i in dims])
    # `merged` goes by the first strides: here those of the places in row order.
    sizes, (_, own) = merged(shape, [_row_strides(shape), strides])
    return sizes, own


def _row_strides(shape: Shape) -> Shape:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def reductions() -> dict[str, KernelImpl]:
    """Return the kernels that reduce."""
    total, mean, product = Reduce("Total"), Reduce("Mean"), Reduce("Factors")
    largest, least, where = Reduce("Max"), Reduce("Min"), Reduce("Argmax")

    def over(reduce: Reduce) -> Callable[..., None]:
        def run(out: Any, a: Any, axes: Axes, keepdim: bool) -> None:
            reduce(out, a, tuple(axes))

        return run

    def argmax(out: Any, a: Any, axis: int, keepdim: bool) -> None:
        where(out, a, (axis,))

    return {
        "sum": KernelImpl(over(total), supports=_known),
        "mean": KernelImpl(over(mean), supports=_floats),
        "prod": KernelImpl(over(product), supports=_known),
        "max": KernelImpl(over(largest), supports=_known),
        "min": KernelImpl(over(least), supports=_known),
        "argmax": KernelImpl(argmax, supports=_known),
    }


def _known(key: DispatchKey) -> str | None:
    return None if key.dtypes[1] in CTYPES else f"no code for {key.dtypes[1]}"


def _floats(key: DispatchKey) -> str | None:
    dtype = key.dtypes[1]
    return None if dtype in FLOATS else f"takes float32 and float64, not {dtype}"
