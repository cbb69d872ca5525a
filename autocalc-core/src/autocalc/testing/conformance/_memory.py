# SPDX-License-Identifier: MIT
"""Memory for operands in which accesses outside of the operands are detected.

Each array is placed between guard bytes.  It is 64-byte aligned or, for one layout,
slightly unaligned.  Gaps and guards hold NaN (0xA5 for integers).  A kernel that reads
them has a wrong result, and `Memory.check` detects writes to them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._dispatch.selection.layout import empty_channels_last
from autocalc._kernels.spec import Array, DType, Meta, Shape
from autocalc.testing.conformance._pages import between_guards, filling_of, sparse

GUARD = 128  # bytes on each side: two of the widest vectors
ALIGNMENT = 64

#: The layouts of an operand in memory.
LAYOUTS = ("contiguous", "offset", "strided", "padded", "transposed", "channels-last")
#: Layouts in pages of their own: between forbidden pages, and over gigabytes.
PAGED = ("begins", "ends", "ends-strided", "far")


class Memory:
    """The memory of one call."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Array, int, int, int]] = []
        self._inputs: list[tuple[str, Array, Array]] = []
        #: Arrays with gaps between their elements, each with all of its memory.
        self._gapped: list[tuple[Array, Array]] = []

    def blank(self, shape: Shape, dtype: DType) -> Array:
        """Return a C-contiguous, 64-byte aligned array of NaN between guards."""
        nbytes = math.prod(shape) * dtype.itemsize
        raw = np.empty(nbytes + 2 * GUARD + ALIGNMENT, np.uint8)
        address: int = raw.__array_interface__["data"][0]
        start = GUARD + -(address + GUARD) % ALIGNMENT
        filling = filling_of(dtype)
        raw.fill(filling)
        self._blocks.append((raw, start, start + nbytes, filling))
        return raw[start : start + nbytes].view(dtype).reshape(shape)

    def empty(self, shape: Shape, dtype: DType, layout: str = "contiguous") -> Array:
        """Return an array of NaN with one of the layouts in `LAYOUTS` or `PAGED`."""
        if layout in PAGED:
            return self._paged(shape, dtype, layout)
        if layout == "offset":
            return self.blank((math.prod(shape) + 1,), dtype)[1:].reshape(shape)
        if not shape or layout == "contiguous":
            return self.blank(shape, dtype)
        if layout == "strided":
            whole = self.blank((*shape[:-1], 2 * shape[-1]), dtype)
            return self._part(whole, whole[..., ::2])
        if layout == "padded":
            whole = self.blank((*shape[:-1], shape[-1] + 3), dtype)
            return self._part(whole, whole[..., : shape[-1]])
        if layout == "transposed":
            return self.blank(shape[::-1], dtype).transpose()
        if len(shape) != 4:
            return self.blank(shape, dtype)
        return empty_channels_last(self.blank, shape, dtype)

    def _paged(self, shape: Shape, dtype: DType, layout: str) -> Array:
        if layout != "far":
            return between_guards(shape, dtype, layout)
        made = sparse(shape, dtype)
        if made is None:
            return self.blank(shape, dtype)
        made[...] = self.blank(shape, dtype)
        return made

    def _part(self, whole: Array, part: Array) -> Array:
        """Record that the rest of `whole` does not belong to an operand."""
        self._gapped.append((whole, part))
        return part

    def empty_like_meta(self, meta: Meta | None, layout: str) -> Array | None:
        """Return an array of NaN for a meta, or None."""
        return None if meta is None else self.empty(meta.shape, meta.dtype, layout)

    def copy(self, a: Array, layout: str = "contiguous") -> Array:
        """Return a copy of `a` with one of the `LAYOUTS`; strides of 0 are kept."""
        repeated = tuple(
            slice(0, 1) if stride == 0 and size > 1 and a.size else slice(None)
            for stride, size in zip(a.strides, a.shape, strict=True)
        )
        distinct = a[repeated]
        place = self.empty(distinct.shape, a.dtype, layout)
        place[...] = distinct
        return np.broadcast_to(place, a.shape) if place.shape != a.shape else place

    def copies(self, operand: Any, layout: str) -> Any:
        """Return a copy of an operand: None, an array, or a list of arrays."""
        if operand is None:
            return None
        if isinstance(operand, (list, tuple)):
            return [self.copy(a, layout) for a in operand]
        return self.copy(operand, layout)

    def protect(self, name: str, operand: Any) -> None:
        """Record the values of an input."""
        for a in operand if isinstance(operand, list) else [operand]:
            if a is not None:
                self._inputs.append((name, a, a.copy()))

    def protect_again(self) -> None:
        """Record the current values of the inputs."""
        self._inputs = [(name, now, now.copy()) for name, now, _ in self._inputs]

    def check(self) -> None:
        """Raise if an input changed or a guard was written."""
        for name, now, before in self._inputs:
            if now.tobytes() != before.tobytes():
                raise AssertionError(f"the input `{name}` changed during the call")
        for raw, start, stop, filling in self._blocks:
            guards = raw[:start].tobytes() + raw[stop:].tobytes()
            if guards.count(filling) != len(guards):
                raise AssertionError("the kernel wrote outside its operands")
        for whole, part in self._gapped:
            if not _is_blank_but(whole, part):
                raise AssertionError(
                    "the kernel wrote between the elements of an operand; it must use "
                    "the strides, or its set must declare "
                    "KernelSet(strided_outputs=False)"
                )


def _is_blank_but(whole: Array, part: Array) -> bool:
    """Return whether `whole`, except its view `part`, is as `blank` made it."""
    filling = filling_of(whole.dtype)
    line = whole.reshape(-1).view(np.uint8).copy()
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    elements: Array = np.ndarray(
        (*part.shape, part.itemsize), np.uint8, line, offset, (*part.strides, 1)
    )
    elements[...] = filling
    return bool((line == filling).all())


def expanded(a: Array, axis: int) -> Array:
    """Return the first slice of `a` along `axis`, repeated with stride 0."""
    first = a[(slice(None),) * axis + (slice(0, 1),)]
    return np.broadcast_to(first, a.shape)
