# SPDX-License-Identifier: MIT
"""Optimizers' steps for all parameters of a group in one launch."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import cupy
import numpy as np

from autocalc.plugin import KernelImpl
from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._rows import floats
from autocalc_kernels_cuda._types import BLOCK, CTYPES

#: Blocks for each parameter, at most: a large one has every multiprocessor at work.
_BLOCKS = 512


@lru_cache(maxsize=64)
def _table(rows: tuple[tuple[int, ...], ...]) -> Any:
    """Return pointers and sizes on the GPU; a loop has the same ones in most steps."""
    return cupy.array(np.array(rows, np.uint64).view(np.int64))


class _Group:
    """Lists of arrays that belong together, as a kernel goes through them.

    Arrays with another order than their parameter, or with gaps, are copied.
    """

    def __init__(self, written: list[Any], read: list[Any]) -> None:
        self._back: list[tuple[Any, Any]] = []
        self.rows: list[tuple[int, ...]] = []
        self.size = 0
        self._held: list[Any] = []
        for arrays in zip(*written, *read, strict=True):
            self._add(arrays, len(written))

    def _add(self, arrays: tuple[Any, ...], written: int) -> None:
        if not (_all_by_rows(arrays) or _in_one_order(arrays)):
            copies = [cupy.array(a, order="C") for a in arrays]
            self._back += list(zip(arrays[:written], copies[:written], strict=True))
            arrays = tuple(copies)
        self._held.append(arrays)
        size = int(arrays[0].size)
        self.size = max(self.size, size)
        self.rows.append((*[int(a.data.ptr) for a in arrays], size))

    def run(self, name: str, like: Any, *arguments: Any) -> None:
        """Start the kernel, and copy back what was not written in place."""
        if not self.size:
            return
        blocks = min(-(-self.size // BLOCK), _BLOCKS)
        step = kernel("optimizers.cu", f"{name}<{CTYPES[like.dtype]}>")
        table = _table(tuple(self.rows))
        step((blocks, len(self.rows)), (BLOCK,), (table, *arguments))
        for array, copy in self._back:
            array[...] = copy


def _all_by_rows(arrays: tuple[Any, ...]) -> bool:
    return all(a.flags.c_contiguous for a in arrays)


def _in_one_order(arrays: tuple[Any, ...]) -> bool:
    """Return whether arrays of one shape have the same layout, without gaps."""
    first = arrays[0]
    if any(a.strides != first.strides for a in arrays):
        return False
    steps = zip(first.shape, first.strides, strict=True)
    span = first.itemsize + sum((n - 1) * s for n, s in steps)
    return bool(first.size == 0 or span == first.nbytes)


def _adamw(*operands: Any) -> None:
    params, exp_avg, exp_avg_sq, grads, lr, step, *attributes = operands
    beta1, beta2, eps, weight_decay, decoupled, maximize = attributes
    if not params:
        return
    rate, t = float(lr), int(step)
    group = _Group([params, exp_avg, exp_avg_sq], [grads])
    group.run(
        "adamw",
        params[0],
        rate / (1 - beta1**t),
        math.sqrt(1 - beta2**t),
        1 - rate * weight_decay,
        float(beta1),
        float(beta2),
        float(eps),
        float(weight_decay),
        bool(decoupled),
        bool(maximize),
    )


def _sgd(*operands: Any) -> None:
    params, buffers, grads, lr, step, *attributes = operands
    momentum, dampening, weight_decay, nesterov, maximize = attributes
    if not params:
        return
    written = [params, buffers] if momentum else [params]
    group = _Group(written, [grads])
    if not momentum:  # a null pointer for the buffers
        group.rows = [(row[0], 0, *row[1:]) for row in group.rows]
    group.run(
        "sgd",
        params[0],
        float(lr),
        int(step) == 1,
        float(momentum),
        float(dampening),
        float(weight_decay),
        bool(nesterov),
        bool(maximize),
    )


def optimizers() -> dict[str, KernelImpl]:
    """Return steps of optimizers."""
    return {
        "adamw": KernelImpl(_adamw, supports=floats),
        "sgd": KernelImpl(_sgd, supports=floats),
    }
