# SPDX-License-Identifier: MIT
"""Dropout and its backward kernel.

If an element needs one word, element `i` uses word ``offset + i`` of the Philox stream.
If an element needs several words, they are adjacent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, bools, counter, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.random._streams import keep_scale, seeded, streams
from autocalc._kernels.random.random_bits import dropout_mask
from autocalc._kernels.rules import BOOL, float_dtype, one_of, same_shape
from autocalc._kernels.samples import LARGE, SHAPES, TAILS, Make, int64
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

dropout = composite(
    "dropout",
    "out mask ; a seed offset ; p:float",
    "a / (1 - p) where mask, else 0; mask = random_bits(24) >= p * 2**24.",
    alias=(("out", "a"),),
    complex=True,
)


@dropout.rule
def _(a: Meta, seed: Meta, offset: Meta, p: float) -> tuple[Meta, Meta]:
    seeded("dropout", seed, offset)
    return Meta(a.shape, float_dtype("dropout", a)), Meta(a.shape, BOOL)


@dropout.formula(lead="random_bits")
def _(xp: Any, a: Array, seed: Array, offset: Array, p: float) -> tuple[Array, Array]:
    mask = dropout_mask(xp, seed, offset, a.shape, p)
    return dropout_backward_formula(xp, a, mask, p), mask


@dropout.budget("2 ULP; the mask exact")
def dropout_budget(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Limits:
    return [2 * ulp(expected[0], eps), 0.0]


@dropout.samples
def _(make: Make) -> Iterator[Sample]:
    for p in (0.0, 0.1, 0.5, 1.0):
        for label, stream in streams():
            yield Sample(f"p={p}, {label}", (make.normal(37), *stream), (p,))
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n), int64(5), int64(2)), (0.3,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (make.normal(*shape), int64(5), int64(2)), (0.3,))
    yield Sample("large", (make.normal(LARGE), int64(5), int64(2)), (0.3,))


dropout.work(flops_per_element=13)
dropout.benchmarks(Case("1 Mi", join(floats(1 << 20), counter), (0.1,), 0b11))


dropout_backward = composite(
    "dropout_backward",
    "out ; g mask ; p:float",
    "g / (1 - p) where mask, else 0.",
    alias=(("out", "g"),),
    complex=True,
)


@dropout_backward.rule
def _(g: Meta, mask: Meta, p: float) -> Meta:
    one_of("dropout_backward", "mask", mask, (BOOL,))
    shape = same_shape("dropout_backward", g=g, mask=mask)
    return Meta(shape, float_dtype("dropout_backward", g))


@dropout_backward.formula(lead="where")
def dropout_backward_formula(xp: Any, g: Array, mask: Array, p: float) -> Array:
    return narrow(xp.where(mask, wide(xp, g) * keep_scale(p), 0.0), g)


dropout_backward.budget(dropout_budget)


@dropout_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for p in (0.0, 0.1, 1.0):
        for n in TAILS:
            yield Sample(f"p={p}, n={n}", (make.normal(n), make.mask(n)), (p,))
    for shape in SHAPES:
        yield Sample(f"{shape}", (make.normal(*shape), make.mask(*shape)), (0.5,))
    yield Sample("large", (make.normal(LARGE), make.mask(LARGE)), (0.5,))


dropout_backward.work(flops_per_element=2)
dropout_backward.benchmarks(Case("1 Mi", join(floats(1 << 20), bools(1 << 20)), (0.1,)))
