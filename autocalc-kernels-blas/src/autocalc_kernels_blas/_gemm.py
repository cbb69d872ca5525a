# SPDX-License-Identifier: MIT
"""The kernel ``gemm`` on CBLAS.

The BLAS call for a product depends only on shapes, strides and scalars, and a training
step repeats the same few combinations.  So the first call of a kind makes a plan, and
later calls find it in a dict.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc.plugin import DispatchKey
from autocalc_kernels_blas._layout import (
    MAX_INTEGER,
    Layout,
    batch_strides,
    layout,
    merged,
)
from autocalc_kernels_blas._library import Library
from autocalc_kernels_blas._routines import Plan, Product, Routines

#: The limit of the dict, so that shapes that never repeat do not fill the memory.
MAX_PLANS = 1024

LETTERS: dict[Any, str] = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}


def supports(key: DispatchKey) -> str | None:
    """Return why BLAS does not support this call, or None if it does."""
    pre, a = key.dtypes[1:3]
    if a not in LETTERS:
        return f"BLAS multiplies float32 and float64, not {a}"
    if pre is not None:
        return "BLAS has one output, not `pre` as well"
    if key.attributes:
        alpha, _, activation = key.attributes[:3]
        if activation != "none":
            return f"BLAS has no activation {activation}"
        if alpha == 0:
            return "BLAS does not read its operands when alpha is 0"
    shapes = [shape for shape in key.shapes or () if shape is not None]
    if any(size > MAX_INTEGER for shape in shapes for size in shape):
        return "a dimension exceeds BLAS's 32-bit integers"
    if shapes and math.prod(shapes[0][:-2]) > MAX_INTEGER:
        return "the batch exceeds BLAS's 32-bit integers"
    return None


class Gemm:
    """``gemm`` of one library: a callable with the kernel's signature."""

    def __init__(self, library: Library) -> None:
        self._plans: dict[Any, Plan] = {}
        self._routines = {
            dtype.itemsize: Routines(library, letter)
            for dtype, letter in LETTERS.items()
        }

    def __call__(
        self,
        out: Any,
        pre: None,  # noqa: ARG002  `supports` refuses it
        a: Any,
        b: Any,
        bias: Any,
        alpha: float,
        beta: float,
        activation: str,  # noqa: ARG002  `supports` takes "none" only
        accumulate: int,
    ) -> None:
        """Write alpha * a @ b + bias (+ beta * out) to `out`."""
        if bias is not None or (beta == 0 and accumulate & 1):
            _start_from(out, bias, beta, bool(accumulate & 1))
            beta = 1.0
        elif not accumulate & 1:
            beta = 0.0
        self._product(out, a, b, alpha, beta)

    def _product(self, out: Any, a: Any, b: Any, alpha: float, beta: float) -> None:
        """Write alpha * a @ b + beta * out to `out`; beta 0 does not read it."""
        key = (a.shape, a.strides, b.shape, b.strides, out.strides, out.itemsize,
               alpha, beta)  # fmt: skip
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(out, a, b, alpha, beta)
            if len(self._plans) >= MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        plan(out, a, b)

    def _plan(self, out: Any, a: Any, b: Any, alpha: float, beta: float) -> Plan:
        """Return a plan for calls like this one."""
        if out.size == 0:
            return _nothing
        if a.shape[-1] == 0:
            return _scaling(beta)
        layouts = [_layout(operand) for operand in (out, a, b)]
        if None not in layouts and not layouts[0].transposed:  # type: ignore[union-attr]
            product = _describe(out, a, b, alpha, beta, layouts)
            return self._routines[out.itemsize].plan(product)
        return self._detour(layouts, alpha, beta)

    def _detour(self, layouts: list[Layout | None], alpha: float, beta: float) -> Plan:
        """Return a plan that first copies operands into a layout that BLAS accepts."""
        of_out, of_a, of_b = layouts

        def elsewhere(out: Any, a: Any, b: Any) -> None:
            result = np.empty(out.shape, out.dtype)
            if beta != 0:
                result[...] = out
            self._product(result, a, b, alpha, beta)
            out[...] = result

        def flipped(out: Any, a: Any, b: Any) -> None:
            out, a, b = (x.swapaxes(-1, -2) for x in (out, a, b))
            self._product(out, b, a, alpha, beta)

        def copied(out: Any, a: Any, b: Any) -> None:
            a = _in_order(a) if of_a is None else a
            b = _in_order(b) if of_b is None else b
            self._product(out, a, b, alpha, beta)

        if of_out is None:
            return elsewhere
        return flipped if of_out.transposed else copied


def _start_from(out: Any, bias: Any, beta: float, accumulate: bool) -> None:
    """Write what the product is added to into `out`: bias, beta * out, or both.

    Writing the bias first takes one pass over `out`; adding it afterwards takes two.
    """
    if not accumulate:
        out[...] = bias
        return
    with np.errstate(all="ignore"):
        if beta != 1:
            np.multiply(out, beta, out=out)
        if bias is not None:
            np.add(out, bias, out=out)


def _layout(operand: Any) -> Layout | None:
    rows, columns = operand.shape[-2:]
    row_stride, column_stride = operand.strides[-2:]
    return layout(rows, columns, row_stride, column_stride, operand.itemsize)


def _in_order(operand: Any) -> Any:
    """Return a row-major copy; batch dimensions that repeat are copied once."""
    batch = operand.ndim - 2
    once = tuple(
        slice(0, 1) if stride == 0 else slice(None)
        for stride in operand.strides[:batch]
    )
    return np.ascontiguousarray(operand[once])


def _describe(
    out: Any, a: Any, b: Any, alpha: float, beta: float, layouts: list[Any]
) -> Product:
    """Return the product in the terms of BLAS, with as few batch loops as possible."""
    batch = out.shape[:-2]
    loops = merged(
        batch,
        batch_strides(batch, a.shape[:-2], a.strides[:-2]),
        batch_strides(batch, b.shape[:-2], b.strides[:-2]),
        batch_strides(batch, batch, out.strides[:-2]),
    )
    of_out, of_a, of_b = layouts
    m, n = out.shape[-2:]
    product = Product(m, n, a.shape[-1], alpha, beta, of_a, of_b, of_out, loops)
    return _with_rows_of_the_batch(product, out.itemsize)


def _with_rows_of_the_batch(product: Product, itemsize: int) -> Product:
    """Return [B, M, K] @ [K, N] as [B * M, K] @ [K, N] if rows are evenly spaced."""
    if not product.loops or product.loops[-1].b != 0 or product.a.transposed:
        return product
    *outer, inner = product.loops
    rows = product.m * inner.size
    if rows > MAX_INTEGER:
        return product
    leading = []
    for of, stride in ((product.a, inner.a), (product.out, inner.out)):
        row = of.leading * itemsize if product.m > 1 else stride
        if stride != row * product.m or row % itemsize:
            return product
        leading.append(row // itemsize)
    if leading[0] < product.k or leading[1] < product.n or max(leading) > MAX_INTEGER:
        return product
    return Product(
        rows, product.n, product.k, product.alpha, product.beta,
        Layout(False, leading[0]), product.b, Layout(False, leading[1]), outer,
    )  # fmt: skip


def _nothing(out: Any, a: Any, b: Any) -> None:
    """Do nothing, because there are no elements to write."""


def _scaling(beta: float) -> Plan:
    """Return the product over no terms: beta * out, or zero if beta is 0."""

    def scale(out: Any, a: Any, b: Any) -> None:  # noqa: ARG001  a plan takes three
        if beta == 0:
            out[...] = 0
        elif beta != 1:
            _start_from(out, None, beta, True)

    return scale
