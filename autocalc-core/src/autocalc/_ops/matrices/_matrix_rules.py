# SPDX-License-Identifier: MIT
"""Helpers that the backward rules of matrix functions share."""

from __future__ import annotations

from typing import Any


def mm(k: Any, *factors: Any) -> Any:
    """Return the product of matrices, multiplied from left to right."""
    product = factors[0]
    for factor in factors[1:]:
        product = k.gemm(product, factor, None)[0]
    return product


def is_(k: Any, like: Any, order: str) -> Any:
    """Return a mask [rows, columns]: where row `order` column holds ("eq", "lt")."""
    rows, columns = k.shape(like)[-2:]
    row = k.reshape(k.arange(rows, like), (rows, 1))
    return k.compare(row, k.arange(columns, like), order)


def only(k: Any, where: Any, x: Any) -> Any:
    return k.where(where, x, k.constant(0, x))


def scaled(k: Any, x: Any, s: Any) -> Any:
    """Return `x` with column j multiplied by s_j."""
    return k.mul(x, rows(k, s))


def rows(k: Any, s: Any) -> Any:
    return k.reshape(s, (*k.shape(s)[:-1], 1, k.shape(s)[-1]))


def columns(k: Any, s: Any) -> Any:
    return k.reshape(s, (*k.shape(s), 1))


def total(parts: list[Any], k: Any, like: Any) -> Any:
    """Return the sum of the parts, or zeros if there are none."""
    if not parts:
        return k.mul(like, k.constant(0, like))
    total = parts[0]
    for part in parts[1:]:
        total = k.add(total, part)
    return total


def matrix(k: Any, g: Any) -> Any:
    """Return one number for each matrix in the shape [..., 1, 1]."""
    return k.reshape(g, (*k.shape(g), 1, 1))
