# SPDX-License-Identifier: MIT
"""Batched matrix products with bias and activation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.declare import primitive
from autocalc._kernels.formula import over_kernels
from autocalc._kernels.kernel_set import MAX_DIMS
from autocalc._kernels.matmul._bounds import (
    ACTIVATIONS,
    FEWER_PARTS,
    SAMPLED_ACTIVATIONS,
    SIZES,
    SPLIT,
    Pair,
    gemm_tolerance,
    product,
    product_of_parts,
    said_of_parts,
    split_product,
)
from autocalc._kernels.rules import broadcast_shapes, expect_shape, float_dtype
from autocalc._kernels.samples import FEW_TAILS, Make
from autocalc._kernels.spec import Array, Budget, Meta, Sample, Shape, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

gemm = primitive(
    "gemm",
    "out pre? ; a b bias? ; alpha:float beta:float "
    "activation:none,relu,gelu,gelu_tanh accumulate:int",
    "out = activation(pre), pre = alpha * a @ b + bias, plus beta * out if out is "
    "accumulated; batch dimensions broadcast.",
    key="shapes",
    layout="any",
    accumulates=("out",),
    defaults=(1.0, 1.0, "none"),
    complex=True,
)


@gemm.rule
def _gemm_rule(
    a: Meta, b: Meta, bias: Meta | None, alpha: float, beta: float, activation: str
) -> tuple[Meta, Meta]:
    dtype = float_dtype("gemm", a, b, bias)
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise ShapeError(
            f"gemm: shapes {a.shape} and {b.shape}: both operands need at least 2 "
            f"dimensions. Reshape a vector to a matrix of one row or column."
        )
    if a.shape[-1] != b.shape[-2]:
        raise ShapeError(
            f"gemm: shapes {a.shape} and {b.shape} do not match: a.shape[-1] is "
            f"{a.shape[-1]}, b.shape[-2] is {b.shape[-2]}. They must be equal."
        )
    expect_shape("gemm", "bias", bias, b.shape[-1:])
    batch = broadcast_shapes("gemm", a.shape[:-2], b.shape[:-2])
    out = Meta((*batch, a.shape[-2], b.shape[-1]), dtype)
    return out, out


@gemm.reference
def _(
    xp: Any,
    a: Array,
    b: Array,
    bias: Array | None,
    alpha: float,
    beta: float,
    activation: str,
    *,
    want: int = -1,
    out: Array | None = None,
) -> Pair:
    pre = xp.matmul(a, b)
    if alpha != 1:
        pre = alpha * pre
    if bias is not None:
        pre = pre + bias
    if out is not None:
        pre = pre + beta * out
    return ACTIVATIONS[activation](xp, pre), pre


def _in_few_dims(k: Any, a: Array, b: Array, alpha: float) -> Array:
    """Return the product, with merged batch dimensions if there are too many."""
    left, right = k.shape(a), k.shape(b)
    if max(len(left), len(right)) <= MAX_DIMS:
        return k.gemm(a, b, None, alpha)[0]
    batch = broadcast_shapes("gemm", left[:-2], right[:-2])
    lines = [_in_one_batch(k, x, batch) for x in (a, b)]
    shape = (*batch, left[-2], right[-1])
    return k.reshape(k.gemm(*lines, None, alpha)[0], shape)


def _in_one_batch(k: Any, x: Array, batch: Shape) -> Array:
    """Return matrices with one batch dimension, or the matrix for all batches."""
    shape = k.shape(x)
    matrix = shape[-2:]
    if math.prod(shape[:-2]) == 1:
        return k.reshape(x, matrix)
    if shape[:-2] != batch:
        x = k.expand(x, (*batch, *matrix))
    return k.reshape(x, (math.prod(batch), *matrix))


@gemm.decomposition(lead="gemm")
def _(
    k: Any,
    a: Array,
    b: Array,
    bias: Array | None,
    alpha: float,
    beta: float,
    activation: str,
    *,
    want: int = -1,
    out: Array | None = None,
) -> Pair:
    """Run the optional parts as separate kernels, for a set that refuses them.

    If there are more dimensions than native kernels accept, batches are merged.
    """
    pre = _in_few_dims(k, a, b, alpha)
    if bias is not None:
        pre = k.add(pre, bias)
    if out is not None:
        pre = k.add(pre, k.mul(out, k.constant(beta, out)))
    if activation == "none":
        return pre, k.copy(pre) if want & 0b10 else None
    return over_kernels(ACTIVATIONS[activation])(k, pre), pre if want & 0b10 else None


gemm.budget(
    Budget("(K + 2) * eps * (|A| |B|), through the activation", gemm_tolerance(product))
)


_PLAIN = (1.0, 1.0, "none")


def _batched(make: Make) -> Iterator[Sample]:
    batches = (((3,), (3,)), ((), (4,)), ((4,), ()), ((2, 1), (1, 3)), ((0,), (1,)))
    for left, right in batches:
        a, b = make.normal(*left, 5, 7), make.normal(*right, 7, 18)
        yield Sample(f"batch {left} by {right}", (a, b, None), _PLAIN)
        yield Sample(f"batch {left} by {right}, bias", (a, b, make.normal(18)), _PLAIN)


def _special_gemm(make: Make) -> Iterator[Sample]:
    for value in (np.inf, np.nan):
        a, b = make.normal(6, 10), make.normal(10, 19)
        a[2, 3] = value
        yield Sample(f"one {value}", (a, b, None), _PLAIN)
        yield Sample(f"one {value}, relu", (a, b, make.normal(19)), (1.0, 1.0, "relu"))
    a, b = make.normal(6, 10), make.normal(10, 19)
    yield Sample("alpha 0", (a, b, make.normal(19)), (0.0, 1.0, "none"))


@gemm.samples
def _(make: Make) -> Iterator[Sample]:
    for m, k, n in SIZES:
        a, b = make.normal(m, k), make.normal(k, n)
        yield Sample(f"{m}x{k}x{n}", (a, b, None), _PLAIN, want=0b10)
        yield Sample(f"{m}x{k}x{n}, bias", (a, b, make.normal(n)), _PLAIN, want=0b10)
    for n in FEW_TAILS:
        a, b, bias = make.normal(n, 19), make.normal(19, n), make.normal(n)
        yield Sample(f"{n}x19x{n}, relu", (a, b, bias), (1.0, 1.0, "relu"))
        yield Sample(
            f"{n}x{n}x{n}", (make.normal(n, n), make.normal(n, n), None), _PLAIN
        )
    for activation in SAMPLED_ACTIVATIONS:
        for alpha in (1.0, -0.5):
            triple = (make.normal(9, 20), make.normal(20, 37), make.normal(37))
            label = f"alpha {alpha}, {activation}"
            yield Sample(label, triple, (alpha, 0.25, activation), want=0b10)
    yield from _batched(make)
    yield from _special_gemm(make)
    triple = (make.normal(301, 260), make.normal(260, 225), make.normal(225))
    yield Sample("large", triple, (1.0, 1.0, "relu"))


def _gemm_work(a: Meta, b: Meta, bias: Meta | None, *attributes: Any) -> Work:
    out, _ = _gemm_rule(a, b, bias, *attributes)
    return Work(2.0 * size(out) * a.shape[-1], nbytes(a, b, bias, out))


gemm.work(_gemm_work)

#: The sizes M, N, K of products in models.
SHAPES = (
    (64, 64, 64), (128, 128, 128), (256, 256, 256), (512, 512, 512),
    (1024, 1024, 1024), (2048, 2048, 2048), (256, 1024, 784), (784, 1024, 256),
    (64, 3072, 768), (64, 2304, 768), (32, 4096, 1024), (256, 10, 1024),
    (25088, 64, 288), (100352, 32, 288), (1024, 128, 128), (1024, 512, 128),
    (1024, 1024, 256), (1, 4096, 1024), (17, 33, 65),
)  # fmt: skip


@gemm.benchmarks
def _() -> Iterator[Case]:
    for m, n, k in SHAPES:
        operands = join(floats(m, k), floats(k, n), absent)
        yield Case(f"{m}x{n}x{k}", operands, (1.0, 0.0, "none"))


gemm_split = Budget(
    f"(K + 2) * eps * (|A| |B|){SPLIT}, through the activation",
    gemm_tolerance(split_product),
)


gemm.exception("split", gemm_split)
gemm.exception("bfloat16", gemm_split)  # pairs of bfloat16, and their flushes to 0
for _parts in FEWER_PARTS:
    gemm.exception(
        _parts,
        Budget(
            f"{said_of_parts(_parts)}, through the activation",
            gemm_tolerance(product_of_parts(_parts)),
        ),
    )
