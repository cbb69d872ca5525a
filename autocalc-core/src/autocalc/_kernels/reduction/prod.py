# SPDX-License-Identifier: MIT
"""The product over axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, positive
from autocalc._kernels.declare import standalone
from autocalc._kernels.reduction._axes import result, summed
from autocalc._kernels.reduction.sum import reduction_samples
from autocalc._kernels.rules import DTYPES, FLOATS, INT64, check_axes, reduced_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

prod = standalone(
    "prod",
    "out ; a ; axes:ints keepdim:bool",
    "The product over `axes`; integers and booleans are multiplied in int64.",
    defaults=(False,),
    dtypes=DTYPES,
    complex=True,
)


Axes = tuple[int, ...]


@prod.rule
def _(a: Meta, axes: Axes, keepdim: bool) -> Meta:
    check_axes("prod", axes, a)
    dtype = a.dtype if a.dtype in FLOATS else INT64
    return Meta(reduced_shape(a.shape, axes, keepdim), dtype)


@prod.reference
def _(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return result(xp.prod(summed(xp, a), axis=axes, keepdims=keepdim), a)


@prod.budget("min(n, 4096) * eps * |out|, n factors")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    shape, axes = np.shape(inputs[0]), attributes[0]
    axes = axes if isinstance(axes, tuple) else (axes,)
    n = int(np.prod([shape[axis] for axis in axes]))
    return [min(n, 4096) * eps * magnitude(expected[0]) + ulp(expected[0], eps)]


@prod.samples
def _(make: Make) -> Iterator[Sample]:
    for sample in reduction_samples(make):
        if "large" not in sample.label:
            yield sample
    near_one = 1 + make.normal(7, 401) / 1000 if make.is_float else make.normal(7, 401)
    yield Sample("large", (np.asarray(near_one, make.dtype),), ((1,), False))


prod.work(flops_per_element=1)
prod.benchmarks(Case("1024x1024 over 1", positive(1024, 1024), ((1,), False)))
