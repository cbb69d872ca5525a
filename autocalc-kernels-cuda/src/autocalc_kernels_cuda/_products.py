# SPDX-License-Identifier: MIT
"""Matrix products by cuBLAS: what a call means to it, from shapes and strides.

cuBLAS counts along columns.  A matrix in row order is to it the transposed one, so
``out = a @ b`` is asked for as ``out.T = b.T @ a.T``: no operand is moved.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import cublas, device

from autocalc_kernels_cuda import _tf32

#: cuBLAS counts in 32 bits.
MAX_INTEGER = 2**31 - 1

#: Shapes that never repeat must not fill the memory.
MAX_PLANS = 4096

#: Matrices that are listed by their pointers, and tables of such that are kept.
MAX_LISTED = 1 << 16
MAX_TABLES = 64

_DEFAULT_MATH = 0  # CUBLAS_DEFAULT_MATH
_TF32_MATH = 3  # CUBLAS_TF32_TENSOR_OP_MATH

Plan = Callable[[Any, Any, Any], None]
Shape = tuple[int, ...]


class Layout(NamedTuple):
    """A matrix in row order, or the transpose of one, and the step between rows."""

    transposed: bool
    leading: int


class Loop(NamedTuple):
    """One batch dimension: its size and the steps of the operands, in elements."""

    size: int
    out: int
    a: int
    b: int


_plans: dict[Any, Plan] = {}


def product(out: Any, a: Any, b: Any, alpha: float = 1.0, beta: float = 0.0) -> None:
    """Write alpha * a @ b + beta * out to `out`; beta 0 does not read it.

    Batch dimensions broadcast.  Any strides: what cuBLAS cannot read is copied first.
    """
    key = (a.shape, a.strides, b.shape, b.strides, out.strides, out.dtype, alpha, beta)
    plan = _plans.get(key)
    if plan is None:
        plan = _plan(out, a, b, alpha, beta)
        if len(_plans) >= MAX_PLANS:
            _plans.clear()
        _plans[key] = plan
    plan(out, a, b)


def _plan(out: Any, a: Any, b: Any, alpha: float, beta: float) -> Plan:
    if out.size == 0:
        return lambda out, a, b: None
    if a.shape[-1] == 0:
        return _scaling(beta)
    of_out, of_a, of_b = layouts = [layout(x) for x in (out, a, b)]
    if of_out is None:
        return _elsewhere(alpha, beta)
    if of_out.transposed:
        return _flipped(alpha, beta)
    if of_a is None or of_b is None:
        return _copied(of_a is None, of_b is None, alpha, beta)
    return _cublas(out, a, b, alpha, beta, layouts)


def layout(matrix: Any) -> Layout | None:
    """Return the layout of the last two dimensions, None if cuBLAS cannot read it."""
    rows, columns = matrix.shape[-2:]
    down, along = (s // matrix.itemsize for s in matrix.strides[-2:])
    if (along == 1 or columns == 1) and (down >= columns or rows == 1):
        return _of_steps(False, down if rows > 1 else columns, columns)
    if (down == 1 or rows == 1) and (along >= rows or columns == 1):
        return _of_steps(True, along if columns > 1 else rows, rows)
    return None


def _of_steps(transposed: bool, leading: int, least: int) -> Layout | None:
    leading = max(leading, least, 1)
    return None if leading > MAX_INTEGER else Layout(transposed, leading)


# ------------------------------------------------------------ ways around


def _scaling(beta: float) -> Plan:
    """Return the product over no terms: beta * out, and zero for beta 0."""

    def scale(out: Any, a: Any, b: Any) -> None:
        if beta == 0:
            out[...] = 0
        elif beta != 1:
            out *= out.dtype.type(beta)

    return scale


def _elsewhere(alpha: float, beta: float) -> Plan:
    def elsewhere(out: Any, a: Any, b: Any) -> None:
        result = cupy.empty(out.shape, out.dtype)
        if beta != 0:
            result[...] = out
        product(result, a, b, alpha, beta)
        out[...] = result

    return elsewhere


def _flipped(alpha: float, beta: float) -> Plan:
    def flipped(out: Any, a: Any, b: Any) -> None:
        out, a, b = (x.swapaxes(-1, -2) for x in (out, a, b))
        product(out, b, a, alpha, beta)

    return flipped


def _copied(copy_a: bool, copy_b: bool, alpha: float, beta: float) -> Plan:
    def copied(out: Any, a: Any, b: Any) -> None:
        a = _in_order(a) if copy_a else a
        b = _in_order(b) if copy_b else b
        product(out, a, b, alpha, beta)

    return copied


def _in_order(operand: Any) -> Any:
    """Return a copy in row order; batch dimensions that repeat are copied once."""
    batch = operand.ndim - 2
    once = tuple(
        slice(0, 1) if stride == 0 else slice(None)
        for stride in operand.strides[:batch]
    )
    return cupy.ascontiguousarray(operand[once])


# ------------------------------------------------------------ cuBLAS


def _cublas(
    out: Any, a: Any, b: Any, alpha: float, beta: float, layouts: list[Any]
) -> Plan:
    of_out, of_a, of_b = layouts
    m, n, k = out.shape[-2], out.shape[-1], a.shape[-1]
    loops = _loops(out, a, b)
    lead_out, lead_a = of_out.leading, of_a.leading
    wider = _rows_of_the_batch(m, n, k, loops, of_out, of_a)
    if wider is not None:
        m, lead_out, lead_a = wider
        loops = loops[:-1]
    single = out.itemsize == 4
    number = ctypes.c_float if single else ctypes.c_double
    # The numbers live as long as the plan, which the call's addresses rely on.
    factor, into = number(alpha), number(beta)
    factor_at, into_at = ctypes.addressof(factor), ctypes.addressof(into)
    op_a, op_b = int(of_a.transposed), int(of_b.transposed)
    lead_b, itemsize = of_b.leading, out.itemsize
    *outer, inner = loops or [Loop(1, 0, 0, 0)]
    places = [
        tuple(itemsize * sum(i * step for i, step in zip(at, steps, strict=True))
              for steps in zip(*[loop[1:] for loop in outer], strict=True))
        if outer else (0, 0, 0)
        for at in itertools.product(*[range(loop.size) for loop in outer])
    ]  # fmt: skip
    one = cublas.sgemm if single else cublas.dgemm
    many = cublas.sgemmStridedBatched if single else cublas.dgemmStridedBatched
    listed = cublas.sgemmBatched if single else cublas.dgemmBatched
    tables = [_Pointers(each) for each in zip(*_spread(places, inner, itemsize),
                                              strict=True)]  # fmt: skip
    uneven = len(places) > 1 and len(places) * inner.size <= MAX_LISTED

    def run(out: Any, a: Any, b: Any, _kept: Any = (factor, into)) -> None:
        handle = device.get_cublas_handle()
        if single:
            cublas.setMathMode(handle, _TF32_MATH if _tf32.allowed() else _DEFAULT_MATH)
        at_out, at_a, at_b = out.data.ptr, a.data.ptr, b.data.ptr
        if uneven:
            to, left, right = (
                table.at(ptr)
                for table, ptr in zip(tables, (at_out, at_a, at_b), strict=True)
            )
            listed(
                handle, op_b, op_a, n, m, k, factor_at, right, lead_b, left, lead_a,
                into_at, to, lead_out, len(places) * inner.size,
            )  # fmt: skip
            return
        for to_out, to_a, to_b in places:
            if inner.size == 1:
                one(
                    handle, op_b, op_a, n, m, k, factor_at, at_b + to_b, lead_b,
                    at_a + to_a, lead_a, into_at, at_out + to_out, lead_out,
                )  # fmt: skip
            else:
                many(
                    handle, op_b, op_a, n, m, k, factor_at, at_b + to_b, lead_b,
                    inner.b, at_a + to_a, lead_a, inner.a, into_at,
                    at_out + to_out, lead_out, inner.out, inner.size,
                )  # fmt: skip

    return run


def _spread(
    places: list[Any], inner: Loop, itemsize: int
) -> Iterator[tuple[int, int, int]]:
    """Yield the offset of each matrix of the batch, in bytes, of all three operands."""
    for to_out, to_a, to_b in places:
        for i in range(inner.size):
            step = i * itemsize
            yield (
                to_out + step * inner.out,
                to_a + step * inner.a,
                to_b + step * inner.b,
            )


class _Pointers:
    """Pointers to the matrices of an operand, on the GPU, for each place of its memory.

    A training loop has its arrays in the same places step by step.
    """

    def __init__(self, offsets: tuple[int, ...]) -> None:
        self._offsets = np.array(offsets, np.int64)
        self._tables: dict[int, Any] = {}

    def at(self, first: int) -> int:
        """Return the address of the pointers of an operand that begins at `first`."""
        table = self._tables.get(first)
        if table is None:
            if len(self._tables) >= MAX_TABLES:
                self._tables.clear()
            table = self._tables[first] = cupy.array(self._offsets + first)
        return int(table.data.ptr)


def _loops(out: Any, a: Any, b: Any) -> list[Loop]:
    """Return the batch as few dimensions as possible, the largest last."""
    batch = out.shape[:-2]
    steps = [_batch_strides(x, batch) for x in (out, a, b)]
    loops: list[Loop] = []
    for n, *each in zip(batch, *steps, strict=True):
        if n == 1:
            continue
        if loops and all(
            last == own * n for last, own in zip(loops[-1][1:], each, strict=True)
        ):
            loops[-1] = Loop(loops[-1].size * n, *each)
        else:
            loops.append(Loop(n, *each))
    if len(loops) > 1 and loops[-1].b != 0:
        loops.sort(key=lambda loop: loop.size)
    return loops


def _batch_strides(x: Any, batch: Shape) -> Shape:
    own = [
        0 if n == 1 else s // x.itemsize
        for n, s in zip(x.shape[:-2], x.strides[:-2], strict=True)
    ]
    return (*(0,) * (len(batch) - len(own)), *own)


def _rows_of_the_batch(
    m: int, n: int, k: int, loops: list[Loop], of_out: Layout, of_a: Layout
) -> tuple[int, int, int] | None:
    """Return the rows and steps of [B, M, K] @ [K, N] as [B * M, K] @ [K, N].

    None where `b` changes along the batch, or rows are not evenly spaced.
    """
    if not loops or loops[-1].b != 0 or of_a.transposed:
        return None
    inner = loops[-1]
    step_out = of_out.leading if m > 1 else inner.out
    step_a = of_a.leading if m > 1 else inner.a
    if inner.out != step_out * m or inner.a != step_a * m:
        return None
    if step_out < n or step_a < k or m * inner.size > MAX_INTEGER:
        return None
    if max(step_out, step_a) > MAX_INTEGER:
        return None
    return m * inner.size, step_out, step_a


def too_large(shapes: tuple[Any, ...]) -> str | None:
    """Return why cuBLAS cannot count these shapes, None if it can."""
    known = [shape for shape in shapes if shape is not None]
    if any(size > MAX_INTEGER for shape in known for size in shape):
        return "a dimension exceeds cuBLAS's 32-bit integers"
    if known and math.prod(known[0][:-2]) > MAX_INTEGER:
        return "the batch exceeds cuBLAS's 32-bit integers"
    return None


FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
