# SPDX-License-Identifier: MIT
"""Channels-last: the memory layout of results with four dimensions.

An array of shape [N, C, H, W] is channels-last if its memory is that of a contiguous
[N, H, W, C]: the channels of a pixel are neighbours.  Shapes and indices do not show
the layout.  If its spec allows it, a kernel's results have the layout of its operands.
They are channels-last if one of the activations is.  The other activations are then
copied into that layout here, before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape

#: The permutation from [N, C, H, W] to [N, H, W, C], and back.
PIXELS = (0, 2, 3, 1)
PLANES = (0, 3, 1, 2)

#: Operands that have four dimensions but no pixels.
_WEIGHTS = frozenset({"weight", "dweight"})

Empty = Callable[[Shape, DType], Array]


def fits_order(a: Array, order: tuple[int, ...]) -> bool:
    """Return whether the dimensions of `a` have this order in memory, without gaps."""
    return a.ndim == len(order) and bool(a.transpose(order).flags.c_contiguous)


def fits_channels_last(a: Array) -> bool:
    """Return whether `a` is channels-last, even if it is also row-major."""
    return fits_order(a, PIXELS)


def is_channels_last(a: Array) -> bool:
    """Return whether `a` is channels-last and not also row-major."""
    return not a.flags.c_contiguous and fits_channels_last(a)


def follows_pixels(a: Array) -> bool:
    """Return whether the strides of `a` are those of channels-last; gaps are allowed.

    The array holds images or, with five dimensions, volumes.  It may be a part of
    larger ones.  If sizes of 1 make the layout ambiguous, the array counts as rows of
    channels.
    """
    if a.ndim not in (4, 5) or a.flags.c_contiguous or not a.strides[1] or not a.size:
        return False
    least = 0
    for d in (1, *range(a.ndim - 1, 1, -1), 0):
        if a.strides[d] < least or (d == 0 and least == a.strides[1]):
            return False
        least = a.strides[d] * max(a.shape[d], 1)
    return True


def memory_order(a: Array) -> tuple[int, ...] | None:
    """Return the dimensions of `a` in the order in which they follow in memory.

    None if that is their own order, or if elements are repeated.
    """
    if a.flags.c_contiguous or 0 in a.strides:
        return None
    if is_channels_last(a):
        return PIXELS
    dims = range(a.ndim)
    order = tuple(sorted(dims, key=a.strides.__getitem__, reverse=True))
    return None if order == tuple(dims) else order


def dense_order(a: Array) -> tuple[int, ...] | None:
    """Return the order in memory of the dimensions of an array without gaps.

    None if that is their own order, if there are gaps, or on another device.
    """
    order = memory_order(a) if a.__class__ is np.ndarray else None
    return order if order is not None and fits_order(a, order) else None


def empty_in_order(
    empty: Empty, shape: Shape, dtype: DType, order: tuple[int, ...]
) -> Array:
    """Return a new array whose dimensions have this order in memory."""
    back = sorted(range(len(order)), key=order.__getitem__)
    made: Array = empty(tuple([shape[d] for d in order]), dtype).transpose(back)
    return made


def empty_channels_last(empty: Empty, shape: Shape, dtype: DType) -> Array:
    """Return a new array of `shape` [N, C, H, W] that is channels-last."""
    n, c, h, w = shape
    return empty((n, h, w, c), dtype).transpose(PLANES)


def empty_stack(empty: Empty, images: Sequence[Array], axis: int) -> Array:
    """Return memory for stacked channels-last images; the new axis is before `axis`."""
    first = images[0]
    shape = (*first.shape[:axis], len(images), *first.shape[axis:])
    order = [d + (d >= axis) for d in PIXELS]
    order.insert(order.index(axis + 1), axis)
    made = empty(tuple([shape[d] for d in order]), first.dtype)
    out: Array = made.transpose([order.index(d) for d in range(5)])
    return out


def copied_channels_last(k: Any, a: Array) -> Array:
    """Return a copy of `a` that is channels-last."""
    copied: Array = k.copy(a, into=empty_channels_last(k.empty, a.shape, a.dtype))
    return copied


def empty_as(empty: Empty, shape: Shape, dtype: DType, *operands: Array) -> Array:
    """Return memory for an elementwise result with four dimensions."""
    for a in operands:
        if a.shape == shape and is_channels_last(a):
            return empty_channels_last(empty, shape, dtype)
    return empty(shape, dtype)


class LayoutPlan(NamedTuple):
    """The copies and layouts of a call whose results are channels-last.

    Attributes
    ----------
    copied
        The places of the operands that are first copied into the layout.
    outputs
        For each output, whether it is channels-last.
    """

    copied: tuple[int, ...]
    outputs: tuple[bool, ...]

    def operands(self, k: Any, args: Sequence[Any]) -> tuple[Any, ...]:
        """Return `args`, where operands with another layout are copied."""
        moved = list(args)
        for i in self.copied:
            moved[i] = copied_channels_last(k, args[i])
        return tuple(moved)

    def laid(self, k: Any, results: Sequence[Any]) -> tuple[Any, ...]:
        """Return `results`, where those without the planned layout are copied."""
        return tuple(
            copied_channels_last(k, a)
            if last and a is not None and not fits_channels_last(a)
            else a
            for a, last in zip(results, self.outputs, strict=True)
        )

    def empty(self, empty: Empty, metas: Sequence[Any]) -> tuple[Any, ...]:
        """Return memory for the wanted outputs, None for the others."""
        return tuple(
            meta and (empty_channels_last(empty, *meta) if last else empty(*meta))
            for meta, last in zip(metas, self.outputs, strict=True)
        )

    def described(self, key: DispatchKey) -> DispatchKey:
        """Return the call's key after operands are copied and results laid out."""
        if key.shapes is None or key.strides is None:
            return key
        strides = list(key.strides)
        places = [len(self.outputs) + i for i in self.copied]
        places += [
            i
            for i, last in enumerate(self.outputs)
            if last and key.shapes[i] is not None
        ]
        for place in places:
            shape, dtype = key.shapes[place], key.dtypes[place]
            assert shape is not None  # the operand was copied, or the result is wanted
            assert dtype is not None
            _, c, h, w = shape
            strides[place] = tuple(
                dtype.itemsize * step for step in (h * w * c, 1, w * c, c)
            )
        return key._replace(strides=tuple(strides))


def keeps_layout(spec: KernelSpec) -> bool:
    """Return whether results of this kernel follow the layout of its operands."""
    if spec.writes or spec.free:
        return False  # the caller gives the results, or describes them fully
    if spec.elementwise:
        return spec.layout == "any"
    return spec.layout in {"like", "prefers channels-last"}


def plan_layout(
    spec: KernelSpec, operands: Sequence[Any], metas: Sequence[Any], preferred: bool
) -> LayoutPlan | None:
    """Return the layout of a call's operands and results; None for row-major results.

    `preferred` means that the kernel is faster in channels-last layout for any
    operands.
    """
    images = _images(spec, operands, metas)
    if not (preferred or any(is_channels_last(operands[i]) for i in images)):
        return None
    copied: tuple[int, ...] = ()
    if not spec.elementwise:
        copied = tuple(i for i in images if not fits_channels_last(operands[i]))
    outputs = tuple(
        isinstance(meta, Meta) and len(meta.shape) == 4 and o.name not in _WEIGHTS
        for o, meta in zip(spec.outputs, metas, strict=True)
    )
    return LayoutPlan(copied, outputs)


def _images(
    spec: KernelSpec, operands: Sequence[Any], metas: Sequence[Any]
) -> list[int]:
    """Return the places of the inputs that are [N, C, H, W] and not broadcast."""
    return [
        i
        for i, (operand, a) in enumerate(zip(spec.inputs, operands, strict=True))
        if a is not None
        and a.ndim == 4
        and operand.name not in _WEIGHTS
        and (not spec.elementwise or a.shape == metas[0].shape)
    ]
