# SPDX-License-Identifier: MIT
"""The operations that combine the tensors of all ranks."""

from __future__ import annotations

from enum import Enum


class ReduceOp(Enum):
    """The operation that combines the elements of all ranks' tensors.

    `AVG` is their mean; `BAND`, `BOR` and `BXOR` combine the bits of integers.
    """

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
    BAND = "band"
    BOR = "bor"
    BXOR = "bxor"


#: The operations that exist for integers only.
BITWISE = frozenset({ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR})

#: PyTorch's name for the type of the members.
ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # not a member of the enum
