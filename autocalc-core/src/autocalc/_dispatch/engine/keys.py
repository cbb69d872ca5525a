# SPDX-License-Identifier: MIT
"""Under what decisions are kept, where no kernel set has a faster way to say it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def key_of(*operands: Any) -> Hashable:
    """Return the dtypes, shapes and strides of arrays, None and lists of arrays."""
    key: list[Any] = []
    for x in operands:
        if x is None:
            key.append(None)
        elif x.__class__ is list or x.__class__ is tuple:
            key.append(key_of(*x))
        else:
            key += (x.dtype, x.shape, x.strides)  # half of what a tuple for each takes
    return tuple(key)
