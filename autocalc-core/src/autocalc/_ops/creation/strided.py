# SPDX-License-Identifier: MIT
"""Make tensors with given strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import (
    dtype_of,
    empty,
    finished,
    shape_of,
    undefined,
)
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device, dtype_at
from autocalc._tensor.dtypes import DType
from autocalc._tensor.layouts import check_layout
from autocalc._tensor.layouts import layout as Layout
from autocalc.errors import ArgumentError, ShapeError

#: Sizes or strides.
StridedSizes = Sequence[int]


@traced(declares=False)
def empty_strided(
    size: StridedSizes,
    stride: StridedSizes,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor with the given strides, whose elements are undefined.

    Parameters
    ----------
    size
        The number of elements along each dimension.
    stride
        For each dimension, the distance in memory between two neighbouring indices,
        counted in elements.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ShapeError
        If the numbers of strides and sizes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    check_layout("empty_strided", layout, pin_memory)
    shape = shape_of("empty_strided", (size,))
    steps = shape_of("empty_strided", (stride,))
    if len(shape) != len(steps):
        raise ShapeError(
            f"empty_strided: dimensionality of sizes ({len(shape)}) must match "
            f"dimensionality of strides ({len(steps)})."
        )
    kind: Any = dtype_at(device, dtype_of(dtype, None).numpy)
    pairs = list(zip(shape, steps, strict=True))
    count = 0 if 0 in shape else 1 + sum((n - 1) * step for n, step in pairs)
    memory = undefined((count,), kind)
    strides = [step * kind.itemsize for step in steps]
    array = arrays.strided(memory, shape, strides)
    return finished("empty_strided", array, None, requires_grad)


@traced(declares=False)
def empty_permuted(
    size: StridedSizes,
    physical_layout: StridedSizes,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
    layout: Layout | None = None,
    pin_memory: bool | None = False,
) -> Tensor:
    """Return a tensor of undefined elements with its dimensions permuted in memory.

    Parameters
    ----------
    size
        The number of elements along each dimension.
    physical_layout
        The dimensions in the order in which they are stored, from the outermost to the
        innermost.
    dtype
        The dtype of the result.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    layout
        It must be ``strided``, the only layout.
    pin_memory
        Accepted so that programs for PyTorch run; it has no effect.

    Raises
    ------
    ArgumentError
        If `physical_layout` does not name each dimension once.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.empty_permuted((2, 3, 5), (0, 2, 1)).stride()
    (15, 1, 3)
    """
    check_layout("empty_permuted", layout, pin_memory)
    shape = shape_of("empty_permuted", (size,))
    order = shape_of("empty_permuted", (physical_layout,))
    if sorted(order) != list(range(len(shape))):
        raise ArgumentError(
            f"empty_permuted: `physical_layout` is {order}; it must name each of the "
            f"{len(shape)} dimensions once."
        )
    made = empty([shape[d] for d in order], dtype=dtype, device=device)
    turned = view.permute(made, [order.index(d) for d in range(len(shape))])
    return finished("empty_permuted", turned._array, None, requires_grad)
