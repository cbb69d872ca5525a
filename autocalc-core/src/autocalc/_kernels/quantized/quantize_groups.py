# SPDX-License-Identifier: MIT
"""Round numbers to codes of 8 or 4 bits with a scale for each group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.quantized._groups import UINT8, check_groups, group_bytes, packed
from autocalc._kernels.rules import FLOAT32, one_of
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc.errors import ShapeError

quantize_groups = standalone(
    "quantize_groups",
    "out ; x ; bits:int group:int",
    "Codes round(x / scale) in groups of a row, each after its scale of float16.",
    dtypes=(FLOAT32,),
)


@quantize_groups.rule
def _(x: Meta, bits: int, group: int) -> Meta:
    check_groups("quantize_groups", bits, group)
    one_of("quantize_groups", "x", x, (FLOAT32,))
    if not x.shape or x.shape[-1] % group:
        raise ShapeError(
            f"quantize_groups: `x` has shape {x.shape}; its last dimension must be a "
            f"multiple of the group of {group}."
        )
    shape = (*x.shape[:-1], x.shape[-1] // group, group_bytes(bits, group))
    return Meta(shape, UINT8)


def _scales(xp: Any, groups: Array, bits: int) -> Array:
    """Return the scales: of 8 bits max|x| / 127, of 4 bits the x of max|x| / -8.

    A group with infinity, NaN or a scale above float16's largest number gets the scale
    NaN, so that the error is seen in each result.
    """
    sizes = xp.absolute(groups)
    if bits == 8:
        exact = xp.max(sizes, axis=-1) / np.float32(127)
    else:
        first = xp.argmax(sizes, axis=-1, keepdims=True)
        exact = xp.take_along_axis(groups, first, axis=-1)[..., 0] / np.float32(-8)
    scales = exact.astype(np.float16)
    return xp.where(xp.isfinite(scales), scales, np.float16(np.nan))


@quantize_groups.reference
def _(xp: Any, x: Array, bits: int, group: int) -> Array:
    groups = x.astype(np.float32).reshape(*x.shape[:-1], x.shape[-1] // group, group)
    scales = _scales(xp, groups, bits)
    steps = scales.astype(np.float32)[..., None]
    usable = xp.isfinite(steps) & (steps != 0)
    exact = xp.where(usable, groups, 0) / xp.where(usable, steps, 1)
    least, most = (-127, 127) if bits == 8 else (-8, 7)
    codes = xp.clip(xp.rint(exact), least, most).astype(np.int8)
    return packed(xp, scales, codes, bits)


quantize_groups.budget(EXACT)


@quantize_groups.samples
def quantize_samples(make: Make) -> Iterator[Sample]:
    for bits in (8, 4):
        for group in (32, 64, 128):
            x = make.normal(3, 2 * group)
            yield Sample(f"{bits} bits, groups of {group}", (x,), (bits, group))
        yield Sample(f"{bits} bits, one row", (make.normal(96),), (bits, 32))
        yield Sample(f"{bits} bits, no row", (make.normal(0, 64),), (bits, 32))
        yield Sample(f"{bits} bits, no group", (make.normal(3, 0),), (bits, 32))
        yield Sample(f"{bits} bits, (2, 3)", (make.normal(2, 3, 32),), (bits, 32))
        yield Sample(f"{bits} bits, zeros", (make.normal(2, 64) * 0,), (bits, 32))
        small = make.normal(5, 64, scale=1e-6)
        yield Sample(f"{bits} bits, small", (small,), (bits, 32))
        ties = np.round(make.normal(4, 64) * 40).astype(x.dtype) / 2
        ties[:, ::32] = 127 if bits == 8 else -8
        yield Sample(f"{bits} bits, ties", (ties,), (bits, 32))
        huge = make.normal(3, 64, scale=1e30)
        huge[1, :32] = 1
        yield Sample(f"{bits} bits, huge", (huge,), (bits, 32))
        yield Sample(f"large, {bits} bits", (make.normal(257, 1024),), (bits, 32))


quantize_groups.work(flops_per_element=2)
quantize_groups.benchmarks(Case("4096x1024 to 8 bits", floats(4096, 1024), (8, 32)))
