# SPDX-License-Identifier: MIT
"""Random numbers: functions of (seed, offset), the same in every kernel set.

Word ``offset + i`` of the Philox stream belongs to element `i` where one word is
enough; where an element needs more, they lie side by side.
"""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples_training as samples
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    BOOL,
    INT32,
    INT64,
    expect_shape,
    float_dtype,
    one_of,
    same_shape,
)
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Shape
from autocalc._kernels.work import per_element
from autocalc.errors import ArgumentError, DTypeError

#: Bits of a uniform number: what the significand holds.
_BITS = {4: 24, 8: 53}

#: Dropout draws 24 bits for every dtype, so that the mask depends on p alone.
_DROPOUT_BITS = 24

# ---- rules ---------------------------------------------------------------------------


def _seeded(name: str, seed: Meta, offset: Meta) -> None:
    for word, meta in (("seed", seed), ("offset", offset)):
        expect_shape(name, word, meta, ())
        one_of(name, word, meta, (INT64,))


def _random_bits_rule(
    seed: Meta, offset: Meta, bits: int, *, shape: Shape, dtype: DType
) -> Meta:
    _seeded("random_bits", seed, offset)
    if not 1 <= bits <= 62:
        message = f"random_bits: `bits` is {bits}; it must be from 1 to 62."
        raise ArgumentError(message)
    needed = _integers(bits)
    if dtype != needed:
        message = f"random_bits: {bits} bits go into {needed}, not {dtype}."
        raise DTypeError(message)
    return Meta(shape, dtype)


def _integers(bits: int) -> DType:
    """Return the integer dtype that holds `bits` without a sign."""
    return INT32 if bits <= 31 else INT64


def _uniform_rule(
    seed: Meta, offset: Meta, low: float, high: float, *, shape: Shape, dtype: DType
) -> Meta:
    _seeded("uniform", seed, offset)
    return Meta(shape, float_dtype("uniform", Meta(shape, dtype)))


def _normal_rule(
    seed: Meta, offset: Meta, mean: float, std: float, *, shape: Shape, dtype: DType
) -> Meta:
    _seeded("normal", seed, offset)
    return Meta(shape, float_dtype("normal", Meta(shape, dtype)))


def _dropout_rule(a: Meta, seed: Meta, offset: Meta, p: float) -> tuple[Meta, Meta]:
    _seeded("dropout", seed, offset)
    return Meta(a.shape, float_dtype("dropout", a)), Meta(a.shape, BOOL)


def _dropout_backward_rule(g: Meta, mask: Meta, p: float) -> Meta:
    one_of("dropout_backward", "mask", mask, (BOOL,))
    shape = same_shape("dropout_backward", g=g, mask=mask)
    return Meta(shape, float_dtype("dropout_backward", g))


# ---- references ----------------------------------------------------------------------


def random_bits(
    xp: Any, seed: Array, offset: Array, bits: int, *, shape: Shape, dtype: DType
) -> Array:
    n, start = math.prod(shape), int(offset)
    if bits <= 32:
        words = xp.random_words(int(seed), start, n) >> xp.uint64(32 - bits)
    else:
        pairs = xp.random_words(int(seed), start, 2 * n).reshape(n, 2)
        words = pairs[:, 0] << xp.uint64(32) | pairs[:, 1]
        words = words >> xp.uint64(64 - bits)
    return words.astype(dtype).reshape(shape)


def _unit(xp: Any, seed: Array, offset: Array, shape: Shape, dtype: DType) -> Array:
    """Return uniform numbers in [0, 1), multiples of 2**-24 or 2**-53, in float64."""
    bits = _BITS[min(dtype.itemsize, 8)]
    words = random_bits(xp, seed, offset, bits, shape=shape, dtype=INT64)
    return words.astype(xp.result_type(dtype, xp.float64)) * 2.0**-bits


def uniform(
    xp: Any,
    seed: Array,
    offset: Array,
    low: float,
    high: float,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    return (low + (high - low) * _unit(xp, seed, offset, shape, dtype)).astype(dtype)


def normal(
    xp: Any,
    seed: Array,
    offset: Array,
    mean: float,
    std: float,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    u = _unit(xp, seed, offset, (*shape, 2), dtype)
    u1, u2 = u[..., 0] + 2.0 ** -_BITS[min(dtype.itemsize, 8)], u[..., 1]
    radius = xp.sqrt(-2 * xp.log(u1))
    return (mean + std * (radius * xp.cos(2 * math.pi * u2))).astype(dtype)


def dropout(
    xp: Any, a: Array, seed: Array, offset: Array, p: float
) -> tuple[Array, Array]:
    mask = dropout_mask(xp, seed, offset, a.shape, p)
    return dropout_backward(xp, a, mask, p), mask


def dropout_mask(xp: Any, seed: Array, offset: Array, shape: Shape, p: float) -> Array:
    """Return which elements are kept."""
    bits = random_bits(xp, seed, offset, _DROPOUT_BITS, shape=shape, dtype=INT64)
    return bits >= p * 2.0**_DROPOUT_BITS


def dropout_backward(xp: Any, g: Array, mask: Array, p: float) -> Array:
    return narrow(xp.where(mask, wide(xp, g) * keep_scale(p), 0), g)


def keep_scale(p: float) -> float:
    """Return what kept elements are multiplied by; nothing is kept for p = 1."""
    return 1 / (1 - p) if p < 1 else 0.0


# ---- the same in primitives ----------------------------------------------------------


def _unit_in_primitives(
    k: Any, seed: Array, offset: Array, shape: Shape, dtype: DType
) -> Array:
    bits = _BITS[dtype.itemsize]
    words = k.random_bits(seed, offset, bits, shape=shape, dtype=_integers(bits))
    words = k.cast(words, dtype)
    return k.mul(words, k.constant(2.0**-bits, words))


def uniform_in_primitives(
    k: Any,
    seed: Array,
    offset: Array,
    low: float,
    high: float,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    u = _unit_in_primitives(k, seed, offset, shape, dtype)
    return k.add(k.mul(u, k.constant(high - low, u)), k.constant(low, u))


def normal_in_primitives(
    k: Any,
    seed: Array,
    offset: Array,
    mean: float,
    std: float,
    *,
    shape: Shape,
    dtype: DType,
) -> Array:
    u = _unit_in_primitives(k, seed, offset, (*shape, 2), dtype)
    u1, u2 = (k.slice(u, (..., i)) for i in range(2))
    u1 = k.add(u1, k.constant(2.0 ** -_BITS[dtype.itemsize], u))
    square = k.mul(k.log(u1), k.constant(-2.0, u))
    # log(1) * -2 is -0, whose power 0.5 is +0
    radius = k.pow(square, k.constant(0.5, u))
    wave = k.cos(k.mul(u2, k.constant(2 * math.pi, u)))
    scaled = k.mul(k.mul(radius, wave), k.constant(std, u))
    return k.add(scaled, k.constant(mean, u))


def dropout_in_primitives(
    k: Any, a: Array, seed: Array, offset: Array, p: float
) -> tuple[Array, Array]:
    bits = k.random_bits(seed, offset, _DROPOUT_BITS, shape=k.shape(a), dtype=INT32)
    threshold = k.constant(math.ceil(p * 2.0**_DROPOUT_BITS), bits)
    mask = k.compare(bits, threshold, "ge")
    return dropout_backward_in_primitives(k, a, mask, p), mask


def dropout_backward_in_primitives(k: Any, g: Array, mask: Array, p: float) -> Array:
    scaled = k.mul(g, k.constant(keep_scale(p), g))
    return k.where(mask, scaled, k.constant(0, g))


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="random_bits",
        kind="primitive",
        signature="out ; seed offset ; bits:int",
        doc="The upper bits of Philox4x32-10 word offset + i (of two if above 32).",
        rule=_random_bits_rule,
        reference=random_bits,
        budget=budgets.EXACT,
        samples=samples.random_bits,
        work=per_element(_random_bits_rule, 10),
        dtypes=(INT32, INT64),
        free=True,
    ),
    KernelSpec(
        name="uniform",
        kind="composite",
        signature="out ; seed offset ; low:float high:float",
        doc="low + (high - low) * u, u the random bits times 2**-24 (2**-53).",
        rule=_uniform_rule,
        reference=uniform,
        decomposition=uniform_in_primitives,
        lead="random_bits",
        budget=budgets.uniform,
        samples=samples.uniform,
        work=per_element(_uniform_rule, 12),
        defaults=(0.0, 1.0),
        free=True,
    ),
    KernelSpec(
        name="normal",
        kind="composite",
        signature="out ; seed offset ; mean:float std:float",
        doc=(
            "mean + std * sqrt(-2 log(u + 2**-24)) * cos(2 pi v); u, v are the uniform "
            "numbers 2i and 2i + 1 (2**-53 for float64)."
        ),
        rule=_normal_rule,
        reference=normal,
        decomposition=normal_in_primitives,
        lead="random_bits",
        budget=budgets.normal,
        samples=samples.normal,
        work=per_element(_normal_rule, 60),
        defaults=(0.0, 1.0),
        free=True,
    ),
    KernelSpec(
        name="dropout",
        kind="composite",
        signature="out mask ; a seed offset ; p:float",
        doc="a / (1 - p) where mask, else 0; mask = random_bits(24) >= p * 2**24.",
        rule=_dropout_rule,
        reference=dropout,
        decomposition=dropout_in_primitives,
        lead="random_bits",
        budget=budgets.dropout,
        samples=samples.dropout,
        work=per_element(_dropout_rule, 13),
        alias=(("out", "a"),),
    ),
    KernelSpec(
        name="dropout_backward",
        kind="composite",
        signature="out ; g mask ; p:float",
        doc="g / (1 - p) where mask, else 0.",
        rule=_dropout_backward_rule,
        reference=dropout_backward,
        decomposition=dropout_backward_in_primitives,
        lead="where",
        budget=budgets.dropout,
        samples=samples.dropout_backward,
        work=per_element(_dropout_backward_rule, 2),
        alias=(("out", "g"),),
    ),
)
