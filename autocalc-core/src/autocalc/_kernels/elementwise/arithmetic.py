# SPDX-License-Identifier: MIT
"""Sums, products, quotients, powers, signs and remainders, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT, Inputs, Limits, magnitude, ulp, ulps
from autocalc._kernels.cases import (
    Case,
    floats,
    join,
    mebi,
    number,
    positive,
    sized,
    transposed,
)
from autocalc._kernels.declare import elementwise, primitive
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import DTYPES, NUMBERS, float_dtype, same_shape
from autocalc._kernels.samples import BROADCAST, LARGE, SHAPES, TAILS, Make, binary
from autocalc._kernels.samples import pairs as _pairs
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import kernel_data_error


@elementwise(
    "a + b",
    dtypes=DTYPES,
    benchmarks=lambda: [
        *sized(lambda n: join(*[floats(n)] * 2)),
        Case("1024x1024 + row", join(floats(1024, 1024), floats(1024))),
        Case("1024x1024 + column", join(floats(1024, 1024), floats(1024, 1))),
        Case("64x32x28x28 + channel", join(floats(64, 32, 28, 28), floats(32, 1, 1))),
        Case("1024x1024 + transposed", join(floats(1024, 1024), transposed(1024))),
    ],
    complex=True,
)
def add(xp: Any, a: Array, b: Array) -> Array:
    return xp.add(a, b)


@elementwise(
    "a - b",
    kind="composite",
    dtypes=NUMBERS,
    benchmarks=mebi(floats, positive),
    complex=True,
)
def sub(xp: Any, a: Array, b: Array) -> Array:
    return xp.subtract(a, b)


@sub.decomposition(lead="add")
def _(k: Any, a: Array, b: Array) -> Array:
    return k.add(a, k.neg(b))


@elementwise("a * b", dtypes=DTYPES, benchmarks=mebi(floats, positive), complex=True)
def mul(xp: Any, a: Array, b: Array) -> Array:
    return xp.multiply(a, b)


@elementwise("a / b", benchmarks=mebi(floats, positive), complex=True)
def div(xp: Any, a: Array, b: Array) -> Array:
    return xp.true_divide(a, b)


@elementwise("1 / a", lead="div", benchmarks=mebi(positive), complex=True)
def reciprocal(xp: Any, a: Array) -> Array:
    return 1 / a


@elementwise("-a", dtypes=NUMBERS, budget=EXACT, complex=True)
def neg(xp: Any, a: Array) -> Array:
    return xp.negative(a)


@elementwise(
    "|a|", kind="composite", dtypes=NUMBERS, budget=EXACT, complex={"out": "real"}
)
def abs_(xp: Any, a: Array) -> Array:
    return xp.absolute(a)


@abs_.decomposition(lead="maximum")
def _(k: Any, a: Array) -> Array:
    if k.dtype(a).kind == "u":
        return k.copy(a)
    return k.add(k.maximum(a, k.neg(a)), k.constant(0, a))  # |-0| is 0


@elementwise(
    "a * b; 0 if the weight a is 0, also for infinite b (NaN if b is NaN).",
    lead="mul",
    benchmarks=mebi(floats, positive),
    complex=True,
)
def weigh(xp: Any, a: Array, b: Array) -> Array:
    of_nothing = (a == 0) & (b == b)  # noqa: PLR0124  NaN alone differs from itself
    return xp.where(of_nothing, xp.zeros((), a.dtype), a * b)


ULP_4 = ulps(4)


def _pow_samples(make: Make) -> Iterator[Sample]:
    if not make.is_float:
        exponents = np.array([0, 1, 2, 3, 5], make.dtype)
        if make.dtype.kind == "i":
            exponents = np.concatenate([exponents, np.array([-1, -2], make.dtype)])
        for n in TAILS:
            pair = (make.normal(n), make.rng.choice(exponents, n))
            yield Sample(f"n={n}", pair)
        return
    for n in TAILS:
        yield Sample(f"n={n}", (make.positive(n), make.normal(n, scale=3.0)))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.positive(*shape), make.normal(*shape)))
    for left, right in BROADCAST:
        label = f"broadcast {left} with {right}"
        yield Sample(label, (make.positive(*left), make.normal(*right)))
    for exponent in (0.5, 2.0, 3.0, -1.0, -0.5):
        yield Sample(
            f"exponent {exponent}", (make.any_size(999), make.scalar(exponent))
        )
    whole = np.round(make.normal(999, scale=5.0))
    yield Sample("whole exponents", (make.normal(999, scale=9.0), whole))
    yield Sample("special", _pairs(make.special()))
    yield Sample("any base", (np.abs(make.any_size(999)), make.normal(999)))
    yield Sample("large", (make.positive(LARGE), make.normal(LARGE)))


@elementwise(
    "a ** b; for integers with b < 0, 1 / a ** -b rounded to zero.",
    dtypes=NUMBERS,
    budget=ULP_4,
    flops=20,
    samples=_pow_samples,
    benchmarks=mebi(positive, floats),
    complex=True,
)
def pow_(xp: Any, a: Array, b: Array) -> Array:
    if a.dtype.kind in "fc":
        return narrow(xp.power(wide(xp, a), wide(xp, b)), a)
    negative = b < 0  # a**b rounded to zero: not 0 only for a = 1 and -1
    power = xp.power(a, xp.where(negative, xp.bitwise_and(b, 1), b))
    return xp.where(negative & (xp.absolute(a) != 1), 0, power).astype(a.dtype)


@elementwise(
    "1 if a is positive, -1 if it is negative, else 0 (also for NaN).",
    kind="standalone",
    dtypes=NUMBERS,
    budget=EXACT,
)
def sign(xp: Any, a: Array) -> Array:
    return xp.subtract(a > 0, a < 0, dtype=xp.int8).astype(a.dtype)


def _divided(make: Make) -> Iterator[Sample]:
    """Sample pairs of operands, without divisions of integers by 0."""
    for sample in binary(make):
        a, b = sample.inputs
        if not make.is_float:
            b = np.where(b == 0, np.ones((), make.dtype), b)
        yield Sample(sample.label, (a, b))


def _check_divisor(xp: Any, name: str, b: Array) -> None:
    """Raise if integers are divided by 0; for floats, the result is infinity or NaN."""
    if b.dtype.kind != "f" and not (b.item() if b.size == 1 else xp.all(b)):
        raise kernel_data_error(name, "b", 0, 0)


@elementwise(
    "floor(a / b), of the exact quotient.",
    kind="standalone",
    dtypes=NUMBERS,
    budget=ulps(1),
    flops=10,
    samples=_divided,
    benchmarks=mebi(floats, positive),
)
def floor_divide(xp: Any, a: Array, b: Array) -> Array:
    _check_divisor(xp, "floor_divide", b)
    if a.dtype.kind != "f":
        return xp.floor_divide(a, b)
    return narrow(xp.floor_divide(wide(xp, a), wide(xp, b)), a)


@elementwise(
    "a - b * floor(a / b): it has the sign of b.",
    kind="standalone",
    dtypes=NUMBERS,
    flops=10,
    samples=_divided,
    benchmarks=mebi(floats, positive),
)
def remainder(xp: Any, a: Array, b: Array) -> Array:
    _check_divisor(xp, "remainder", b)
    if a.dtype.kind != "f":
        return xp.remainder(a, b)
    return narrow(xp.remainder(wide(xp, a), wide(xp, b)), a)


@elementwise(
    "a - b * trunc(a / b): it has the sign of a.",
    kind="standalone",
    dtypes=NUMBERS,
    budget=EXACT,
    flops=10,
    samples=_divided,
    benchmarks=mebi(floats, positive),
)
def fmod(xp: Any, a: Array, b: Array) -> Array:
    _check_divisor(xp, "fmod", b)
    return xp.fmod(a, b)


axpy = primitive(
    "axpy", "y ; alpha x", "y += alpha * x", layout="like", writes=("y",), complex=True
)


@axpy.rule
def _(y: Meta, alpha: Meta, x: Meta) -> Meta:
    same_shape("axpy", y=y, x=x)
    return Meta(y.shape, float_dtype("axpy", y, alpha, x))


@axpy.reference
def _(xp: Any, y: Array, alpha: Array, x: Array) -> Array:
    return y + alpha * x


@axpy.budget("eps * (|y| + |alpha * x|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    y, alpha, x = map(magnitude, inputs)
    return [eps * (y + alpha * x) + ulp(expected[0], eps)]


@axpy.samples
def _(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n), make.normal(), make.normal(n)))
    for shape in SHAPES:
        triple = (make.normal(*shape), make.normal(), make.normal(*shape))
        yield Sample(f"shape={shape}", triple)
    y, x = _pairs(make.special())
    yield Sample("large", (make.normal(LARGE), make.normal(), make.normal(LARGE)))
    for alpha in (0.0, 1.0, -0.5):
        yield Sample(f"special, alpha={alpha}", (y, make.scalar(alpha), x))


axpy.work(flops_per_element=2)
axpy.benchmarks(Case("1 Mi", join(floats(1 << 20), number(0.5), floats(1 << 20))))
