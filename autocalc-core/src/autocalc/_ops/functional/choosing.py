# SPDX-License-Identifier: MIT
"""One of two values, or the places themselves, by a condition."""

from __future__ import annotations

from typing import overload

from autocalc._ops import elementwise
from autocalc._ops._arguments import Operand, check_tensor
from autocalc._ops._coerce import coerce
from autocalc._ops._out import apply_out
from autocalc._ops.functional.ordering import nonzero
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import DTypeError


@overload
def where(condition: Tensor) -> tuple[Tensor, ...]: ...


@overload
def where(
    condition: Tensor, input: Operand, other: Operand, *, out: Tensor | None = None
) -> Tensor: ...


def where(
    condition: Tensor,
    input: Operand | None = None,
    other: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """Return `input` where `condition` holds, else `other`.

    Shapes broadcast; the dtypes of `input` and `other` are promoted.  With `condition`
    alone, where it is not zero: what ``nonzero(condition, as_tuple=True)`` returns.
    """
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if check_tensor("where", condition).dtype is not dtypes.bool_:
        message = (
            f"where: `condition` has dtype {condition.dtype.name}; it must be bool, as "
            f"comparisons give it."
        )
        raise DTypeError(message)
    return apply_out(
        "where", elementwise.choose(condition, *coerce("where", input, other)), out
    )
