# SPDX-License-Identifier: MIT
"""Calls into CBLAS in which everything but the three addresses is prepared.

The arguments are C objects that are made once, and the functions have no ``argtypes``.
So ctypes passes the arguments directly and does not convert 14 of them in each call.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autocalc_kernels_blas._address import address
from autocalc_kernels_blas._layout import MAX_INTEGER, Layout, Loop, increment
from autocalc_kernels_blas._library import Library

#: ``plan(out, a, b)`` runs one kind of call.
Plan = Callable[[Any, Any, Any], None]

ROW_MAJOR = 101
NOT_TRANSPOSED, TRANSPOSED = 111, 112

#: Products with more work release the interpreter lock: some 100 us at 100 GFLOP/s.
RELEASE_FLOPS = 10_000_000

#: Up to this m*n*k, a batch is one call whose threads take one matrix each.  Larger
#: matrices (above some 200 x 200 x 200) have enough work for all threads.
BATCH_LIMIT = 8_000_000


@dataclass(frozen=True)
class Product:
    """One kind of product: sizes, layouts, strides in bytes, and batch loops."""

    m: int
    n: int
    k: int
    alpha: float
    beta: float
    a: Layout
    b: Layout
    out: Layout
    loops: Sequence[Loop]

    @property
    def flops(self) -> int:
        """Return the floating-point operations of the whole call."""
        count = 2 * self.m * self.n * self.k
        for loop in self.loops:
            count *= loop.size
        return count


class Routines:
    """gemm, gemv and axpy of one library for one dtype.

    Parameters
    ----------
    library
        An open library.
    letter
        ``"s"`` for float32, ``"d"`` for float64.
    """

    def __init__(self, library: Library, letter: str) -> None:
        self._library = library
        self._letter = letter
        self.integer = ctypes.c_int64 if library.spelling.long else ctypes.c_int
        self.real = ctypes.c_float if letter == "s" else ctypes.c_double
        self.itemsize = 4 if letter == "s" else 8

    def find(self, name: str, flops: float) -> Callable[..., None] | None:
        """Return the function `name`; it keeps the interpreter lock if work is small.

        Releasing the lock costs up to 5 ms if another thread takes it.
        """
        pointer = self._library.pointer(f"cblas_{self._letter}{name}")
        if pointer is None:
            return None
        make = ctypes.CFUNCTYPE if flops > RELEASE_FLOPS else ctypes.PYFUNCTYPE
        return make(None)(pointer)

    def plan(self, product: Product) -> Plan:
        """Return a function that runs this kind of product."""
        if not product.loops:
            vector = self._vector(product)
            return self._matrix(product) if vector is None else vector
        *outer, inner = product.loops
        batched = self._batched(product, inner)
        if batched is None:
            return _looped(self._matrix_at(product), product.loops)
        if not outer:
            return lambda out, a, b: batched(address(out), address(a), address(b))
        return _looped(batched, outer)

    def to_integer(self, value: int) -> Any:
        """Return an integer of BLAS; ctypes would silently truncate a longer one."""
        if not 0 <= value <= MAX_INTEGER:
            raise OverflowError(
                f"gemm: {value} does not fit BLAS's 32-bit integers; `supports` should "
                f"have refused this call. Report it with the shapes and strides."
            )
        return self.integer(value)

    def _head(self, product: Product) -> tuple[Any, ...]:
        """Return the arguments before alpha."""
        order = ctypes.c_int(ROW_MAJOR)
        sizes = map(self.to_integer, (product.m, product.n, product.k))
        return (order, _flag(product.a), _flag(product.b), *sizes,
                self.real(product.alpha))  # fmt: skip

    def _matrix(self, product: Product) -> Plan:
        """Return gemm for three arrays, with the least overhead, for small matrices."""
        gemm, order, trans_a, trans_b, m, n, k, alpha, lda, ldb, beta, ldc = (
            self._prepared(product)
        )

        def run(out: Any, a: Any, b: Any) -> None:
            gemm(order, trans_a, trans_b, m, n, k, alpha, address(a), lda,
                 address(b), ldb, beta, address(out), ldc)  # fmt: skip

        return run

    def _matrix_at(self, product: Product) -> Plan:
        """Return gemm for three addresses."""
        gemm, order, trans_a, trans_b, m, n, k, alpha, lda, ldb, beta, ldc = (
            self._prepared(product)
        )

        def call(out: Any, a: Any, b: Any) -> None:
            gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, out,
                 ldc)  # fmt: skip

        return call

    def _prepared(self, product: Product) -> tuple[Any, ...]:
        gemm = self.find("gemm", product.flops)
        assert gemm is not None  # the library was chosen because it has it
        lda, ldb, ldc = map(self.to_integer, _leading(product))
        beta = self.real(product.beta)
        return (gemm, *self._head(product), lda, ldb, beta, ldc)

    def _batched(self, product: Product, loop: Loop) -> Plan | None:
        """Return one call for a whole loop, or None if that is impossible or slower."""
        if product.m * product.n * product.k > BATCH_LIMIT:
            return None
        gemm = self.find("gemm_batch_strided", product.flops)
        steps = [increment(2, s, self.itemsize) for s in (loop.a, loop.b, loop.out)]
        if gemm is None or not all(steps):
            return None
        order, trans_a, trans_b, m, n, k, alpha = self._head(product)
        lda, ldb, ldc = map(self.to_integer, _leading(product))
        step_a, step_b, step_c = map(self.to_integer, steps)
        beta, size = self.real(product.beta), self.to_integer(loop.size)

        def call(out: Any, a: Any, b: Any) -> None:
            gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, step_a, b, ldb,
                 step_b, beta, out, ldc, step_c, size)  # fmt: skip

        return call

    def _vector(self, product: Product) -> Plan | None:
        """Return gemv if one side is a vector; at 1024 it is 3 times as fast."""
        if product.n != 1 and product.m != 1:
            return None
        gemv = self.find("gemv", product.flops)
        if gemv is None:
            return None
        if product.n == 1:
            matrix, rows, columns = product.a, product.m, product.k
            x = 1 if product.b.transposed else product.b.leading
            y = product.out.leading
        else:  # compute the transposed product, with the transpose of b
            flipped = Layout(not product.b.transposed, product.b.leading)
            matrix, rows, columns = flipped, product.n, product.k
            x = product.a.leading if product.a.transposed else 1
            y = 1
        if matrix.transposed:
            rows, columns = columns, rows
        order, flag = ctypes.c_int(ROW_MAJOR), _flag(matrix)
        m, n, lda, incx, incy = map(
            self.to_integer, (rows, columns, matrix.leading, x, y)
        )
        alpha, beta = self.real(product.alpha), self.real(product.beta)

        def by_column(out: Any, a: Any, b: Any) -> None:
            gemv(order, flag, m, n, alpha, address(a), lda, address(b), incx, beta,
                 address(out), incy)  # fmt: skip

        def by_row(out: Any, a: Any, b: Any) -> None:
            gemv(order, flag, m, n, alpha, address(b), lda, address(a), incx, beta,
                 address(out), incy)  # fmt: skip

        return by_column if product.n == 1 else by_row


def _flag(layout: Layout) -> ctypes.c_int:
    return ctypes.c_int(TRANSPOSED if layout.transposed else NOT_TRANSPOSED)


def _leading(product: Product) -> tuple[int, int, int]:
    return product.a.leading, product.b.leading, product.out.leading


def _looped(call: Plan, loops: Sequence[Loop]) -> Plan:
    """Repeat `call` over the batch."""
    sizes = [range(loop.size) for loop in loops]
    pairs = [
        list(zip(index, loops, strict=True)) for index in itertools.product(*sizes)
    ]
    offsets = [
        (
            sum(i * loop.out for i, loop in pair),
            sum(i * loop.a for i, loop in pair),
            sum(i * loop.b for i, loop in pair),
        )
        for pair in pairs
    ]
    void = ctypes.c_void_p

    def run(out: Any, a: Any, b: Any) -> None:
        to, left, right = (address(x).value or 0 for x in (out, a, b))
        for step, step_a, step_b in offsets:
            call(void(to + step), void(left + step_a), void(right + step_b))

    return run
