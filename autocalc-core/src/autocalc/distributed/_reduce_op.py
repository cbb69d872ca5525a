# SPDX-License-Identifier: MIT
"""How the tensors of all ranks are combined."""

from __future__ import annotations

from enum import Enum


class ReduceOp(Enum):
    """How elements of all ranks' tensors are combined.

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


#: What integers alone can be combined by.
BITWISE = frozenset({ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR})

#: PyTorch's name of the type of the values.
ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # no member
