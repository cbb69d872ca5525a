# SPDX-License-Identifier: MIT
"""Select rows of a table by index, and compute the gradient of the table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits
from autocalc._kernels.cases import Case, floats, indices, join
from autocalc._kernels.declare import composite, primitive
from autocalc._kernels.indexing._places import added, checked
from autocalc._kernels.rules import (
    INT64,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels.samples import FEW_TAILS, Make
from autocalc._kernels.spec import Array, Attributes, DType, Meta, Sample, Shape

embedding = primitive(
    "embedding", "out ; weight indices", "out[...] = weight[indices[...]]", complex=True
)


@embedding.rule
def _(weight: Meta, indices: Meta) -> Meta:
    one_of("embedding", "indices", indices, (INT64,))
    expect_ndim("embedding", "weight", weight, 2)
    dtype = float_dtype("embedding", weight)
    return Meta((*indices.shape, weight.shape[1]), dtype)


@embedding.reference
def _(xp: Any, weight: Array, indices: Array) -> Array:
    indices = checked(xp, "embedding", "indices", indices, weight.shape[0])
    return xp.take(weight, indices, axis=0)


embedding.budget(EXACT)


@embedding.samples
def embedding_samples(make: Make) -> Iterator[Sample]:
    for width in (*FEW_TAILS, 0):
        weight = make.normal(6, width)
        yield Sample(f"width {width}", (weight, make.indices((4,), 6)))
    for shape in ((), (0,), (2, 3), (2, 1, 5)):
        yield Sample(f"{shape}", (make.normal(9, 5), make.indices(shape, 9)))
    yield Sample("large", (make.normal(500, 301), make.indices((900,), 500)))


embedding.work(flops_per_element=1)
embedding.benchmarks(
    Case("50257x256, 4096 rows", join(floats(50257, 256), indices(50257, 4096)))
)


embedding_backward = composite(
    "embedding_backward",
    "dweight ; g indices ; padding_idx:int",
    "dweight[indices[...]] += g[...] from 0, in order, skipping padding_idx.",
    free=True,
    complex=True,
)


@embedding_backward.rule
def _(g: Meta, indices: Meta, padding_idx: int, *, shape: Shape, dtype: DType) -> Meta:
    name = "embedding_backward"
    one_of(name, "indices", indices, (INT64,))
    expect_shape(name, "g", g, (*indices.shape, shape[-1]))
    dweight = Meta(shape, dtype)
    expect_ndim(name, "dweight", dweight, 2)
    float_dtype(name, dweight, g)
    return dweight


@embedding_backward.reference
def _(
    xp: Any, g: Array, indices: Array, padding_idx: int, *, shape: Shape, dtype: DType
) -> Array:
    checked(xp, "embedding_backward", "indices", indices, shape[0])
    kept = indices != padding_idx
    return xp.index_add(xp.zeros(shape, g.dtype), (indices[kept],), g[kept])


@embedding_backward.decomposition(lead="scatter_add")
def _(
    k: Any, g: Array, indices: Array, padding_idx: int, *, shape: Shape, dtype: DType
) -> Array:
    n = math.prod(k.shape(indices))
    rows, index = k.reshape(g, (n, shape[1])), k.reshape(indices, (n, 1))
    if padding_idx >= 0:
        is_padding = k.compare(index, k.constant(padding_idx, index), "eq")
        rows = k.where(is_padding, k.constant(0, g), rows)
    index = k.expand(index, (n, shape[1]))
    return k.scatter_add(k.zeros(shape, dtype), index, rows, 0)


@embedding_backward.budget("n * eps * sum(|g|), n terms at one place")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, indices = inputs
    return [added((indices,), np.zeros(expected[0].shape), g, eps)]


@embedding_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for padding in (-1, 2):
        for sample in embedding_samples(make):
            weight, indices = sample.inputs
            g = make.normal(*indices.shape, weight.shape[1])
            label = f"{sample.label}, padding {padding}"
            yield Sample(label, (g, indices), (padding,), shape=weight.shape)


embedding_backward.work(flops_per_element=1)
embedding_backward.benchmarks(
    Case(
        "8192 of 1000x256",
        join(floats(8192, 256), indices(1000, 8192)),
        (-1,),
        shape=(1000, 256),
    )
)
