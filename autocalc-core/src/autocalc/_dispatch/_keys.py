# SPDX-License-Identifier: MIT
"""Under what decisions are kept, where no kernel set has a faster way to say it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


def key_of(*operands: Any) -> Hashable:
    """Return the dtypes, shapes and strides of arrays, None and lists of arrays."""
    return tuple([_facts(x) for x in operands])


def _facts(x: Any) -> Hashable:
    if x is None:
        return None
    if x.__class__ is list or x.__class__ is tuple:
        return key_of(*x)
    return x.dtype, x.shape, x.strides
