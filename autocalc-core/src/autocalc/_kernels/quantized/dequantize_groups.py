# SPDX-License-Identifier: MIT
"""Numbers from codes of 8 or 4 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, Operands
from autocalc._kernels.declare import standalone
from autocalc._kernels.quantized._groups import (
    UINT8,
    codes_of,
    group_bytes,
    scales_of,
    unpacked_shape,
)
from autocalc._kernels.rules import FLOAT32
from autocalc._kernels.samples import Make, Shape
from autocalc._kernels.spec import Array, Meta, Sample

dequantize_groups = standalone(
    "dequantize_groups",
    "out ; blocks ; bits:int group:int",
    "The numbers scale * code of packed groups.",
    dtypes=(UINT8,),
)


@dequantize_groups.rule
def _(blocks: Meta, bits: int, group: int) -> Meta:
    shape = unpacked_shape("dequantize_groups", "blocks", blocks, bits, group)
    return Meta(shape, FLOAT32)


@dequantize_groups.reference
def _(xp: Any, blocks: Array, bits: int, group: int) -> Array:
    numbers = codes_of(xp, blocks, bits) * scales_of(xp, blocks)[..., None]
    shape = (*blocks.shape[:-2], blocks.shape[-2] * group)
    return numbers.reshape(shape).astype(np.float32)


#: The product of 8 and 11 bits has at most 19, fewer than float32's 24.
dequantize_groups.budget(EXACT)


def blocks_of(rng: np.random.Generator, bits: int, group: int, *shape: int) -> Array:
    """Return random blocks of rows; `shape` ends with the number of groups of a row."""
    blocks = rng.integers(0, 256, (*shape, group_bytes(bits, group)), np.uint8)
    if bits == 8:  # no code is -128
        blocks[..., 2:][blocks[..., 2:] == 128] = 129
    scales = rng.normal(size=shape) * 0.01
    blocks[..., :2] = scales.astype(np.float16)[..., None].view(np.uint8)
    return blocks


SHAPES: tuple[Shape, ...] = ((3,), (0, 2), (3, 0), (2, 3, 1), (5, 4))


@dequantize_groups.samples
def _(make: Make) -> Iterator[Sample]:
    for bits in (8, 4):
        for group in (32, 64, 96):
            blocks = blocks_of(make.rng, bits, group, 3, 2)
            yield Sample(f"{bits} bits, groups of {group}", (blocks,), (bits, group))
        for shape in SHAPES:
            blocks = blocks_of(make.rng, bits, 32, *shape)
            yield Sample(f"{bits} bits, {shape}", (blocks,), (bits, 32))
        blocks = blocks_of(make.rng, bits, 32, 257, 32)
        yield Sample(f"large, {bits} bits", (blocks,), (bits, 32))


def packed_blocks(bits: int, *shape: int) -> Operands:
    """Make one operand of packed groups of 32."""
    return lambda rng: (blocks_of(rng, bits, 32, *shape),)


dequantize_groups.work(flops_per_element=1)
dequantize_groups.benchmarks(Case("4096x1024", packed_blocks(8, 4096, 32), (8, 32)))
