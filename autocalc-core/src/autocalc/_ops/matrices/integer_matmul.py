# SPDX-License-Identifier: MIT
"""Products of integer matrices, exact modulo 2 to the number of their bits.

The kernels multiply floats, so integers are cut into digits of 16 bits.  The products
of digits are summed in float64.  Each is below 2^32, and a sum of 2^20 of them is below
2^53, so the sums are exact.
"""

from __future__ import annotations

from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.factories import Operator
from autocalc._ops.elementwise import arithmetic, bitwise
from autocalc._ops.views import slicing
from autocalc._tensor import Tensor, dtypes

_BITS = 16
_MOST = 2**20


def integer_product(gemm: Operator, a: Tensor, b: Tensor) -> Tensor:
    """Return [..., M, K] times [..., K, N], both of one integer dtype.

    Digits i and j contribute at 2^(16 (i + j)).  Bits beyond the dtype are dropped, so
    int64 takes 10 float products and int32 takes 3.
    """
    inner, dtype = a.shape[-1], a.dtype
    if inner > _MOST:
        left = slicing.slice_op(a, (..., slice(0, _MOST)))
        rest = slicing.slice_op(a, (..., slice(_MOST, inner)))
        above = slicing.slice_op(b, (..., slice(0, _MOST), slice(None)))
        below = slicing.slice_op(b, (..., slice(_MOST, inner), slice(None)))
        first = integer_product(gemm, left, above)
        return arithmetic.add_op(first, integer_product(gemm, rest, below))
    left_digits, right_digits = _digits(a), _digits(b)
    total: Tensor | None = None
    for i, x in enumerate(left_digits):
        for j, y in enumerate(right_digits[: len(left_digits) - i]):
            part = cast(gemm(x, y, None, 1.0, 0.0, "none"), dtypes.int64)
            part = bitwise.bitwise_left_shift(part, _BITS * (i + j))
            total = part if total is None else arithmetic.add_op(total, part)
    assert total is not None  # there is at least one digit
    return cast(total, dtype)


def _digits(x: Tensor) -> list[Tensor]:
    """Return the digits of `x` in float64, lowest first; the last one has the sign."""
    count = max(1, 8 * x.itemsize // _BITS)
    whole = cast(x, dtypes.int64)
    digits = []
    for i in range(count):
        digit = bitwise.bitwise_right_shift(whole, _BITS * i)
        if i < count - 1:
            digit = bitwise.bitwise_and(digit, 2**_BITS - 1)
        digits.append(cast(digit, dtypes.float64))
    return digits
