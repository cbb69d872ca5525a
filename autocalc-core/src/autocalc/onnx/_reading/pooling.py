# SPDX-License-Identifier: MIT
"""Pooling over windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from autocalc._ops.creation import constants, ranges
from autocalc._ops.indexing import indexing
from autocalc._ops.reductions import extrema, reduction
from autocalc._tensor import Tensor
from autocalc._tensor.limits import iinfo
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._reading.convolution import PADS, widths, window
from autocalc.onnx._table import reads

_MAX = {1: functional.max_pool1d, 2: functional.max_pool2d, 3: functional.max_pool3d}
_MEAN = {1: functional.avg_pool1d, 2: functional.avg_pool2d, 3: functional.avg_pool3d}


class _Windows(NamedTuple):
    """Where windows are: their number and positions along each spatial dimension."""

    kernel: Any
    stride: Any
    dilation: Any
    before: Any
    behind: Any
    ceil: bool

    @property
    def even(self) -> bool:
        """Whether `functional` has this padding: alike, and at most half a window."""
        return self.before == self.behind and all(
            2 * pad <= size for pad, size in zip(self.before, self.kernel, strict=True)
        )

    def counts(self, sizes: Sequence[int]) -> list[int]:
        """Return the number of windows; none begins in the padding at the end."""
        found = []
        for i, n in enumerate(sizes):
            reach = self.dilation[i] * (self.kernel[i] - 1) + 1
            room = n + self.before[i] + self.behind[i] - reach
            count = (
                -(-room // self.stride[i]) if self.ceil else room // self.stride[i]
            ) + 1
            late = self.ceil and (count - 1) * self.stride[i] >= n + self.before[i]
            found.append(count - late)
        return found

    def of(self, x: Tensor, value: Any, counts: list[int] | None = None) -> Tensor:
        """Return the elements of all windows ``[N, C, *counts, *kernel]``."""
        dims, counts = len(self.kernel), counts or self.counts(x.shape[2:])
        ends = [
            max((m - 1) * s + d * (k - 1) + 1 - n - a, 0)
            for m, s, d, k, n, a in zip(
                counts, self.stride, self.dilation, self.kernel, x.shape[2:],
                self.before, strict=True,
            )
        ]  # fmt: skip
        x = functional.pad(x, widths(list(self.before), ends), value=value)
        for i in range(dims):
            axis = 2 + 2 * i
            starts = ranges.arange(counts[i]).unsqueeze(1) * self.stride[i]
            places = starts + ranges.arange(self.kernel[i]) * self.dilation[i]
            chosen = indexing.index_select(x, axis, places.reshape(-1))
            shape = chosen.shape
            x = chosen.reshape(
                *shape[:axis], counts[i], self.kernel[i], *shape[axis + 1 :]
            )
        order = [0, 1, *range(2, 2 + 2 * dims, 2), *range(3, 3 + 2 * dims, 2)]
        return x.permute(*order)


def _windows(node: Node, x: Tensor) -> _Windows:
    kernel = node.get("kernel_shape")
    stride, dilation, before, behind = window(node, x, kernel)
    ceil = bool(node.get("ceil_mode", 0))
    return _Windows(kernel, stride, dilation, before, behind, ceil)


_UNUSED = ("pads", "ceil_mode")


@reads("MaxPool", unused=(*_UNUSED, "storage_order"), only=PADS)
def _(node: Node, x: Tensor) -> Any:
    w = _windows(node, x)
    if len(node.outputs) > 1:
        return _max_with_places(node, x, w)
    if w.even and x.is_floating_point() and not w.ceil:
        result: Tensor = _MAX[len(w.kernel)](
            x, w.kernel, w.stride, w.before, w.dilation
        )
        return result
    least = -math.inf if x.is_floating_point() else _least(x)
    return extrema.amax(w.of(x, least), _kernel_dims(w))


def _least(x: Tensor) -> int:
    """Return the smallest number of an integer dtype."""
    return int(iinfo(x.dtype).min)


def _kernel_dims(w: _Windows) -> tuple[int, ...]:
    return tuple(range(-len(w.kernel), 0))


def _max_with_places(node: Node, x: Tensor, w: _Windows) -> tuple[Tensor, Tensor]:
    """Return maxima and their positions in the flattened input."""
    least = -math.inf if x.is_floating_point() else _least(x)
    dims = len(w.kernel)
    flat = w.of(x, least).flatten(-dims)
    best = extrema.argmax(flat, -1, True)
    order = list(range(x.ndim))
    if node.get("storage_order", 0):
        order = [0, 1, *reversed(range(2, x.ndim))]
    shape = [x.shape[i] for i in order]
    places = ranges.arange(x.numel()).reshape(*shape).permute(*order)
    places = w.of(places, 0).flatten(-dims)
    return (
        indexing.gather(flat, -1, best).squeeze(-1),
        indexing.gather(places, -1, best).squeeze(-1),
    )


@reads("AveragePool", unused=_UNUSED, only=PADS)
def _(node: Node, x: Tensor) -> Tensor:
    w, padded = _windows(node, x), bool(node.get("count_include_pad", 0))
    plain = set(w.dilation) == {1} and not w.ceil
    if w.even and plain:
        result: Tensor = _MEAN[len(w.kernel)](
            x, w.kernel, w.stride, w.before, False, padded
        )
        return result
    ones = constants.ones(1, 1, *x.shape[2:], dtype=x.dtype)
    total, dims, counts = w.of(x, 0), _kernel_dims(w), w.counts(x.shape[2:])
    if padded:
        ones = functional.pad(ones, widths(list(w.before), list(w.behind)), value=1)
        none = [0] * len(w.kernel)
        w = w._replace(before=none, behind=none)
    return reduction.sum(total, dims) / reduction.sum(w.of(ones, 0, counts), dims)


@reads("LpPool", unused=_UNUSED, only=PADS)
def _(node: Node, x: Tensor) -> Tensor:
    w, p = _windows(node, x), node.get("p", 2)
    powers: Any = reduction.sum(abs(w.of(x, 0)) ** p, _kernel_dims(w))
    return powers ** (1 / p)  # type: ignore[no-any-return]


@reads("GlobalLpPool")
def _(node: Node, x: Tensor) -> Tensor:
    p, dims = node.get("p", 2), tuple(range(2, x.ndim))
    powers: Any = reduction.sum(abs(x) ** p, dims, True)
    return powers ** (1 / p)  # type: ignore[no-any-return]


@reads("MaxUnpool", numbers=(2,), unused=("pads", "strides", "kernel_shape"))
def _(node: Node, x: Tensor, places: Tensor, wanted: list[int] | None = None) -> Tensor:
    """Write numbers to their positions; positions count in the natural size."""
    dims, kernel = x.ndim - 2, node.get("kernel_shape")
    stride, pads = node.get("strides", [1] * dims), node.get("pads", [0] * 2 * dims)
    natural = [
        (n - 1) * s + k - a - b
        for n, s, k, a, b in zip(
            x.shape[2:], stride, kernel, pads[:dims], pads[dims:], strict=True
        )
    ]
    shape = [*x.shape[:2], *natural]
    flat = constants.zeros(math.prod(shape), dtype=x.dtype)
    out = flat.scatter(0, places.reshape(-1), x.reshape(-1))
    if not wanted or list(wanted) == shape:
        return out.reshape(*shape)
    out = out.reshape(*shape)
    return functional.pad(out, widths([0] * dims, [
        m - n for m, n in zip(wanted[2:], natural, strict=True)
    ]))  # fmt: skip
