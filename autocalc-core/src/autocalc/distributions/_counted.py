# SPDX-License-Identifier: MIT
"""The common part of distributions of counted numbers."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.creation.ranges import arange
from autocalc._ops.indexing.masking import where
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag
from autocalc._tensor.limits import finfo


def inside(shares: Tensor) -> Tensor:
    """Return uniform numbers moved off 0 and 1, whose logarithms are none."""
    eps = finfo(shares.dtype).eps
    return shares.clamp(eps, 1 - eps)


def logarithms(probs: Tensor) -> Tensor:
    """Return log(p): minus infinity, with a slope of 0, where p is 0."""
    nothing = probs == 0
    return where(nothing, -math.inf, where(nothing, 1.0, probs).log())


def logarithms_of_rest(probs: Tensor) -> Tensor:
    """Return log(1 - p): minus infinity, with a slope of 0, where p is 1."""
    nothing = probs == 1
    return where(nothing, -math.inf, (-where(nothing, 0.0, probs)).log1p())


def weighed(shares: Tensor, logs: Tensor) -> Tensor:
    """Return shares of logarithms; one of 0 counts for nothing, as do its slopes."""
    nothing = (shares == 0) & logs.isinf()
    return shares * where(nothing, 0.0, logs)


def finite(logits: Tensor) -> Tensor:
    """Return logits limited to finite numbers."""
    return logits.clamp(finfo(logits.dtype).min, finfo(logits.dtype).max)


def enumerated(d: Any, count: int, expand: Any, dtype: Any) -> Tensor:
    """Return `count` values along the first dimension, for all of the batch or one."""
    expand = check_flag(f"{type(d).__name__}.enumerate_support", "expand", expand)
    values = arange(count).to(dtype).view(count, *(1 for _ in d.batch_shape))
    return values.expand(count, *d.batch_shape) if expand else values
