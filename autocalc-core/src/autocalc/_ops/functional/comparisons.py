# SPDX-License-Identifier: MIT
"""Whether two tensors are the same."""

from __future__ import annotations

from autocalc._ops import elementwise
from autocalc._ops._arguments import check_tensor
from autocalc._ops.functional.elementwise_composites import isclose
from autocalc._ops.functional.reductions import all
from autocalc._tensor import Tensor


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    if check_tensor("equal", input).shape != check_tensor("equal", other).shape:
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
    return bool(all(isclose(input, other, rtol, atol, equal_nan)))
