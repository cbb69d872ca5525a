# SPDX-License-Identifier: MIT
"""How the tensors of all ranks are combined."""

from __future__ import annotations

from enum import Enum


class ReduceOp(Enum):
    """How elements of all ranks' tensors are combined; `AVG` is their mean."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"
