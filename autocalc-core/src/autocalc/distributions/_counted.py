# SPDX-License-Identifier: MIT
"""What distributions of numbers that are counted have in common."""

from __future__ import annotations

from typing import Any

from autocalc._ops.ranges import arange
from autocalc._tensor.checks import check_flag
from autocalc._tensor.limits import finfo


def inside(probs: Any) -> Any:
    """Return probabilities moved off 0 and 1, whose logarithms are none."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def enumerated(d: Any, count: int, expand: Any, dtype: Any) -> Any:
    """Return `count` values along the first dimension, for all of the batch or one."""
    expand = check_flag(f"{type(d).__name__}.enumerate_support", "expand", expand)
    values = arange(count).to(dtype).view(count, *(1 for _ in d.batch_shape))
    return values.expand(count, *d.batch_shape) if expand else values
