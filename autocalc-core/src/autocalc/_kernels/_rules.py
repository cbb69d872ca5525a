# SPDX-License-Identifier: MIT
"""Shape and dtype rules shared by many specs."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from autocalc._kernels._spec import DType, Meta, Shape
from autocalc.errors import DTypeError, ShapeError

BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
FLOATS = (FLOAT32, FLOAT64)
#: In the order of `ac_dtype` in autocalc_kernel.h.
DTYPES = tuple(
    map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"))
)


def broadcast_shapes(where: str, *shapes: Shape) -> Shape:
    """Return the shape that `shapes` broadcast to, aligned at the right.

    Raises
    ------
    ShapeError
        If a dimension is neither equal, 1, nor absent.
    """
    columns = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    result: list[int] = []
    for column in columns:
        sizes = {size for size in column if size != 1}
        if len(sizes) > 1:
            given = " and ".join(map(str, shapes))
            message = (
                f"{where}: shapes {given} do not broadcast: dimension "
                f"-{len(result) + 1} has sizes {' and '.join(map(str, column))}. Sizes "
                f"must be equal or 1, counted from the right."
            )
            raise ShapeError(message)
        result.append(sizes.pop() if sizes else 1)
    return tuple(reversed(result))


def same_dtype(where: str, *metas: Meta | None) -> DType:
    """Return the one dtype that all present operands share."""
    dtypes = [meta.dtype for meta in metas if meta is not None]
    if any(dtype != dtypes[0] for dtype in dtypes):
        given = ", ".join(map(str, dtypes))
        message = (
            f"{where}: the operands have dtypes {given}; a kernel needs one. "
            f"Cast before the call."
        )
        raise DTypeError(message)
    return dtypes[0]


def float_dtype(where: str, *metas: Meta | None) -> DType:
    """Return the one floating-point dtype that all present operands share."""
    dtype = same_dtype(where, *metas)
    if dtype not in FLOATS:
        message = (
            f"{where}: takes float32 or float64, not {dtype}. Convert with "
            f"`.to(ac.float32)` first."
        )
        raise DTypeError(message)
    return dtype


def reduced_shape(shape: Shape, axes: tuple[int, ...], keepdim: bool) -> Shape:
    """Return `shape` less `axes`, or with 1 in their place."""
    if keepdim:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)
