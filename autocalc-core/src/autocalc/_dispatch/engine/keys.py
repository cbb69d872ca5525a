# SPDX-License-Identifier: MIT
"""Makes keys under which decisions are stored, if no kernel set does so faster."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np


def key_of(*operands: Any) -> Hashable:
    """Return the dtypes, shapes and strides of arrays, None and lists of arrays."""
    key: list[Any] = []
    for x in operands:
        if x is None:
            key.append(None)
        elif x.__class__ is list or x.__class__ is tuple:
            key.append(key_of(*x))
        else:
            key += (x.dtype, x.shape, x.strides)  # half the time of a tuple for each
    return tuple(key)


def key_of_others(*operands: Any) -> Hashable:
    """Return the key of operands that the native engine does not all know.

    Raises
    ------
    TypeError
        If an operand is not None, an array of numbers (also on a device), or a list of
        these.
    """
    for x in operands:
        for one in x if isinstance(x, (list, tuple)) else (x,):
            if one is not None and not _has_numbers(one):
                raise TypeError(
                    f"key_of: got an operand of {getattr(one, 'dtype', type(one))!r}, "
                    f"but arrays of numbers, None and lists of them are needed"
                )
    return key_of(*operands)


def _has_numbers(x: Any) -> bool:
    if not isinstance(x, np.ndarray):
        return hasattr(x, "strides")
    # NumPy does not report the kind of an extension's dtype, such as bfloat16.
    return x.dtype.isbuiltin == 2 or x.dtype.kind not in "OSUMmV"
