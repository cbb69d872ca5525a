# SPDX-License-Identifier: MIT
"""The linear layer on packed weights, with its input rounded to 8 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude
from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.declare import standalone
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.quantized._groups import UINT8, unpacked_shape
from autocalc._kernels.quantized.dequantize_groups import (
    blocks_of,
    dequantize_groups,
    packed_blocks,
)
from autocalc._kernels.quantized.quantize_groups import quantize_groups
from autocalc._kernels.rules import FLOAT32, expect_ndim, expect_shape, one_of
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

quantized_linear = standalone(
    "quantized_linear",
    "out ; x weight bias? ; bits:int group:int",
    "x' @ weight.T + bias; x' is x rounded to 8 bits, weight holds groups of `bits`.",
    dtypes=(FLOAT32,),
)

_NAME = "quantized_linear"


@quantized_linear.rule
def _rule(x: Meta, weight: Meta, bias: Meta | None, bits: int, group: int) -> Meta:
    one_of(_NAME, "x", x, (FLOAT32,))
    expect_ndim(_NAME, "weight", weight, 3)
    columns, inputs = unpacked_shape(_NAME, "weight", weight, bits, group)
    if x.shape[-1:] != (inputs,):
        raise ShapeError(
            f"{_NAME}: `x` has shape {x.shape} and `weight` {columns} rows of {inputs} "
            f"numbers; the last dimension of `x` must be {inputs}."
        )
    if bias is not None:
        one_of(_NAME, "bias", bias, (FLOAT32,))
        expect_shape(_NAME, "bias", bias, (columns,))
    return Meta((*x.shape[:-1], columns), FLOAT32)


def _rounded(xp: Any, x: Array, group: int) -> Array:
    """Return x rounded to 8 bits, in float32."""
    return dequantize_groups(xp, quantize_groups(xp, x, 8, group), 8, group)


@quantized_linear.reference
def _(
    xp: Any, x: Array, weight: Array, bias: Array | None, bits: int, group: int
) -> Array:
    table = dequantize_groups(xp, weight, bits, group)
    out = xp.matmul(wide(xp, _rounded(xp, x, group)), wide(xp, table).T)
    return narrow(out if bias is None else out + bias, x)


@quantized_linear.budget("(K + 4) * eps * (|x'| |weight.T| + |bias|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, weight, bias = inputs
    bits, group = attributes
    rows = magnitude(_rounded(np, x, group))
    table = magnitude(dequantize_groups(np, weight.astype(UINT8), bits, group))
    sums = rows @ table.T + (0 if bias is None else magnitude(bias))
    return [(x.shape[-1] + 4) * eps * sums]


@quantized_linear.samples
def _(make: Make) -> Iterator[Sample]:
    rng = make.rng
    for bits in (8, 4):
        for rows, groups, columns in ((1, 3, 5), (2, 1, 8), (7, 4, 3), (5, 2, 1)):
            for group in (32, 64):
                x = make.normal(rows, groups * group)
                weight = blocks_of(rng, bits, group, columns, groups)
                label = f"{bits} bits, {rows}x{groups * group}x{columns}"
                yield Sample(label, (x, weight, make.normal(columns)), (bits, group))
        for shape in ((), (0,), (2, 3)):
            x, weight = make.normal(*shape, 64), blocks_of(rng, bits, 32, 6, 2)
            yield Sample(f"{bits} bits, leading {shape}", (x, weight, None), (bits, 32))
        x, weight = make.normal(2, 0), blocks_of(rng, bits, 32, 3, 0)
        yield Sample(f"{bits} bits, no groups", (x, weight, None), (bits, 32))
        x, weight = make.normal(67, 512), blocks_of(rng, bits, 32, 129, 16)
        yield Sample(f"large, {bits} bits", (x, weight, None), (bits, 32))


@quantized_linear.work
def _(x: Meta, weight: Meta, bias: Meta | None, bits: int, group: int) -> Work:
    out = _rule(x, weight, bias, bits, group)
    return Work(2.0 * size(x) * weight.shape[0], nbytes(x, weight, bias, out))


quantized_linear.benchmarks(
    Case(
        "1x1024 to 4096, 8 bits",
        join(floats(1, 1024), packed_blocks(8, 4096, 32), absent),
        (8, 32),
    ),
    Case(
        "128x1024 to 4096, 4 bits",
        join(floats(128, 1024), packed_blocks(4, 4096, 32), floats(4096)),
        (4, 32),
    ),
)
