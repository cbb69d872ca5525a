# SPDX-License-Identifier: MIT
"""Shape and dtype rules shared by many specs."""

from __future__ import annotations

import functools
from itertools import zip_longest

import numpy as np

from autocalc._kernels.spec import DType, Meta, Shape
from autocalc.errors import DTypeError, ShapeError, too_many_dimensions

BOOL = np.dtype(np.bool_)
INT32 = np.dtype(np.int32)
INT64 = np.dtype(np.int64)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
FLOATS = (FLOAT32, FLOAT64)
#: Everything but bool.
NUMBERS = tuple(map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1")))
#: The dtypes in the order of `ac_dtype` in autocalc_kernel.h.
DTYPES = tuple(map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "?")))

#: The most dimensions of an array.
MOST_DIMS = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32


def check_ndim(ndim: int) -> None:
    """Raise unless an array can have `ndim` dimensions."""
    if ndim > MOST_DIMS:
        raise too_many_dimensions(ndim, MOST_DIMS)


@functools.lru_cache(maxsize=4096)  # 0.1 us instead of 3
def broadcast_shapes(where: str, *shapes: Shape) -> Shape:
    """Return the shape that `shapes` broadcast to, aligned at the right.

    Raises
    ------
    ShapeError
        If sizes of a dimension differ and neither of them is 1.
    """
    columns = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    result: list[int] = []
    for column in columns:
        sizes = {size for size in column if size != 1}
        if len(sizes) > 1:
            given = " and ".join(f"{shape}" for shape in shapes)
            raise ShapeError(
                f"{where}: shapes {given} do not broadcast: shape mismatch: dimension "
                f"-{len(result) + 1} has sizes {' and '.join(map(str, column))}. "
                "Aligned from the right, sizes must be equal or 1."
            )
        result.append(sizes.pop() if sizes else 1)
    return tuple(reversed(result))


def same_dtype(where: str, *metas: Meta | None) -> DType:
    """Return the common dtype of all present operands; raise if they differ."""
    dtypes = [meta.dtype for meta in metas if meta is not None]
    if any(dtype != dtypes[0] for dtype in dtypes):
        given = ", ".join(map(str, dtypes))
        raise DTypeError(
            f"{where}: the operands have the dtypes {given}, but they must have the "
            f"same dtype. {_remedy(dtypes)}"
        )
    return dtypes[0]


#: The methods of tensors and modules that convert to a dtype.
_METHODS = {FLOAT32: "float()", FLOAT64: "double()"}


def _remedy(dtypes: list[DType]) -> str:
    """Return the advice; if only the first dtype differs, it is a layer's input."""
    first, second = (_METHODS.get(dtype) for dtype in dtypes[:2])
    if first is None or second is None or dtypes[0] == dtypes[1]:
        return "Cast before the call."
    return (
        f"Convert the first, which is the input of a layer, by `x.{second}`, or the "
        f"layer by `model.{first}`."
    )


def float_dtype(where: str, *metas: Meta | None) -> DType:
    """Return the common floating-point dtype of all present operands."""
    dtype = same_dtype(where, *metas)
    if dtype not in FLOATS:
        raise DTypeError(
            f"{where}: needs float32 or float64, not {dtype}. Convert it with "
            "`.to(ac.float32)` first."
        )
    return dtype


def one_of(where: str, name: str, meta: Meta, dtypes: tuple[DType, ...]) -> DType:
    """Return the dtype of `meta`; raise unless it is one of `dtypes`."""
    if meta.dtype not in dtypes:
        raise DTypeError(
            f"{where}: `{name}` is {meta.dtype}; it must be "
            f"{' or '.join(map(str, dtypes))}."
        )
    return meta.dtype


def same_shape(where: str, **metas: Meta | None) -> Shape:
    """Return the common shape of all present operands; raise if they differ."""
    shapes = {name: meta.shape for name, meta in metas.items() if meta is not None}
    first = next(iter(shapes.values()))
    if any(shape != first for shape in shapes.values()):
        given = ", ".join(f"`{name}` {shape}" for name, shape in shapes.items())
        raise ShapeError(f"{where}: the shapes differ: {given}. They must be equal.")
    return first


def expect_shape(where: str, name: str, meta: Meta | None, shape: Shape) -> None:
    """Raise unless the operand is absent or has the shape `shape`."""
    if meta is not None and meta.shape != shape:
        message = f"{where}: `{name}` has shape {meta.shape}, it must be {shape}."
        raise ShapeError(message)


def expect_ndim(where: str, name: str, meta: Meta, ndim: int) -> None:
    """Raise unless the operand has exactly `ndim` dimensions."""
    if len(meta.shape) != ndim:
        raise ShapeError(
            f"{where}: `{name}` has shape {meta.shape}, it must have {ndim} "
            f"dimension{'' if ndim == 1 else 's'}."
        )


def check_axis(where: str, axis: int, meta: Meta) -> None:
    """Raise unless `axis` is the number of a dimension of the operand, from 0."""
    if not 0 <= axis < len(meta.shape):
        raise ShapeError(
            f"{where}: axis {axis} is not a dimension of shape {meta.shape}; kernels "
            f"count axes from 0 to {len(meta.shape) - 1}."
        )


def check_axes(where: str, axes: tuple[int, ...], meta: Meta) -> None:
    """Raise unless `axes` are sorted, distinct dimensions of the operand."""
    for axis in axes:
        check_axis(where, axis, meta)
    if list(axes) != sorted(set(axes)) or (not axes and meta.shape):
        raise ShapeError(
            f"{where}: axes {axes} of shape {meta.shape}: axes must be sorted, "
            "distinct and not empty."
        )


def check_not_empty(where: str, axes: tuple[int, ...], meta: Meta) -> None:
    """Raise if an axis to reduce is empty, for reductions without a neutral element."""
    for axis in axes:
        if meta.shape[axis] == 0:
            raise ShapeError(
                f"{where}: dimension {axis} of shape {meta.shape} is empty, and the "
                f"{where} of no elements is undefined. Give at least one element."
            )


def reduced_shape(shape: Shape, axes: tuple[int, ...], keepdim: bool) -> Shape:
    """Return `shape` without `axes`, or with 1 instead of their sizes."""
    if keepdim:
        return tuple(1 if i in axes else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)
