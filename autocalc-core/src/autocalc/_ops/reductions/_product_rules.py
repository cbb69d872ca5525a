# SPDX-License-Identifier: MIT
"""Products of all elements but one, with correct derivatives at zeros."""

from __future__ import annotations

import math
from typing import Any


def product_of_the_others(k: Any, a: Any, axes: Any) -> Any:
    """Return for each element the product of all other elements.

    Running products have derivatives of every order, also at zeros.
    """
    shape = k.shape(a)
    order = [i for i in range(len(shape)) if i not in axes] + list(axes)
    moved = k.permute(a, tuple(order))
    lead = tuple(shape[i] for i in order[: len(order) - len(axes)])
    rows = k.reshape(moved, (*lead, math.prod(shape[i] for i in axes)))
    behind = _reversed(k, _products_before(k, _reversed(k, rows)))
    others = k.mul(_products_before(k, rows), behind)
    others = k.reshape(others, tuple(shape[i] for i in order))
    back = sorted(range(len(order)), key=order.__getitem__)
    return k.permute(others, tuple(back))


def _products_before(k: Any, rows: Any) -> Any:
    """Return for each element the product of all before it, in the last dimension."""
    *lead, size = k.shape(rows)
    one = k.full((*lead, min(size, 1)), 1, k.dtype(rows))
    but_last = k.slice(rows, (..., slice(0, max(size - 1, 0))))
    return k.cumprod(k.cat([one, but_last], len(lead)), len(lead))


def _reversed(k: Any, rows: Any) -> Any:
    axis = len(k.shape(rows)) - 1
    places = k.arange(k.shape(rows)[axis], rows)
    last = k.constant(k.shape(rows)[axis] - 1, places)
    return k.index_select(rows, k.sub(last, places), axis)
