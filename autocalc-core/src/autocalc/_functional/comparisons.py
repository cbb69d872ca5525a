# SPDX-License-Identifier: MIT
"""Whether two tensors are the same."""

from __future__ import annotations

from autocalc import _dtypes as dtypes
from autocalc._functional.reductions import all
from autocalc._ops import elementwise
from autocalc._ops._coerce import cast
from autocalc._tensor import Tensor


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    if input.shape != other.shape:
        return False
    return bool(all(elementwise.eq(input, other)))


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Return whether |input - other| <= atol + rtol |other| everywhere."""
    difference = elementwise.abs(elementwise.sub(input, other))
    bound = elementwise.add(elementwise.mul(elementwise.abs(other), rtol), atol)
    close = elementwise.eq(input, other)
    close = cast(close, dtypes.int64) + cast(difference <= bound, dtypes.int64)
    if equal_nan:
        both = cast(elementwise.ne(input, input), dtypes.int64)
        close = close + both * cast(elementwise.ne(other, other), dtypes.int64)
    return bool(all(close))
