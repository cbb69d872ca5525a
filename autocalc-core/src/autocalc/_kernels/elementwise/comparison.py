# SPDX-License-Identifier: MIT
"""Elementwise comparisons, selections and limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import bools, floats, mebi, positive
from autocalc._kernels.declare import elementwise
from autocalc._kernels.rules import (
    BOOL,
    DTYPES,
    NUMBERS,
    broadcast_shapes,
    one_of,
    same_dtype,
)
from autocalc._kernels.samples import BROADCAST, LARGE, SHAPES, TAILS, Make
from autocalc._kernels.samples import binary as _binary
from autocalc._kernels.samples import pairs as _pairs
from autocalc._kernels.spec import Array, Meta, Sample
from autocalc.errors import DTypeError

_PARTS = {8: "Float", 16: "Double"}


def _compare_rule(a: Meta, b: Meta, op: str) -> Meta:
    if same_dtype("compare", a, b).kind == "c" and op not in {"eq", "ne"}:
        raise DTypeError(
            f"{op}: \"{op}\" not implemented for 'Complex{_PARTS[a.dtype.itemsize]}': "
            "complex numbers have no order; compare x.abs() or x.real."
        )
    return Meta(broadcast_shapes("compare", a.shape, b.shape), BOOL)


def compare_samples(make: Make) -> Iterator[Sample]:
    ops = ("eq", "ne", "lt", "le", "gt", "ge")
    for op in ops:
        for sample in _binary(make) if op in {"eq", "lt"} else ():
            yield Sample(f"{sample.label}, {op}", sample.inputs, (op,))
        for n in (0, 1, 17, 65):
            yield Sample(f"{op} n={n}", (make.normal(n), make.normal(n)), (op,))
        yield Sample(f"{op} special", _pairs(make.special()), (op,))


_COMPARE = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


@elementwise(
    "The comparison `op` of a and b.",
    "a b ; op:eq,ne,lt,le,gt,ge",
    dtypes=DTYPES,
    budget=EXACT,
    rule=_compare_rule,
    samples=compare_samples,
    benchmarks=mebi(floats, floats, attributes=("lt",)),
    complex="rule",
)
def compare(xp: Any, a: Array, b: Array, op: str) -> Array:
    return getattr(xp, _COMPARE[op])(a, b)


def _where_rule(condition: Meta, a: Meta, b: Meta) -> Meta:
    one_of("where", "condition", condition, (BOOL,))
    shape = broadcast_shapes("where", condition.shape, a.shape, b.shape)
    return Meta(shape, same_dtype("where", a, b))


def where_samples(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.mask(n), make.normal(n), make.normal(n)))
    for shape in SHAPES:
        triple = (make.mask(*shape), make.normal(*shape), make.normal(*shape))
        yield Sample(f"shape={shape}", triple)
    for left, right in BROADCAST:
        label = f"broadcast {left} with {right}"
        yield Sample(label, (make.mask(*left), make.normal(*right), make.scalar(1)))
        yield Sample(
            label, (make.mask(*right), make.normal(*left), make.normal(*right))
        )
    a, b = _pairs(make.special())
    yield Sample("special", (make.mask(len(a)), a, b))
    yield Sample("large", (make.mask(LARGE), make.normal(LARGE), make.scalar(0)))


@elementwise(
    "a where the condition holds, else b.",
    dtypes=DTYPES,
    budget=EXACT,
    rule=_where_rule,
    samples=where_samples,
    benchmarks=mebi(bools, floats, floats),
    complex=True,
)
def where(xp: Any, condition: Array, a: Array, b: Array) -> Array:
    return xp.where(condition, a, b)


@elementwise(
    "The larger of a and b; NaN if either is NaN.",
    dtypes=DTYPES,
    budget=EXACT,
    benchmarks=mebi(floats, positive),
)
def maximum(xp: Any, a: Array, b: Array) -> Array:
    return xp.maximum(a, b)


@elementwise(
    "The smaller of a and b; NaN if either is NaN.",
    dtypes=DTYPES,
    budget=EXACT,
    benchmarks=mebi(floats, positive),
)
def minimum(xp: Any, a: Array, b: Array) -> Array:
    return xp.minimum(a, b)


@elementwise(
    "The larger of a and b; if one is NaN, the other.",
    kind="standalone",
    dtypes=DTYPES,
    budget=EXACT,
    benchmarks=mebi(floats, positive),
)
def fmax(xp: Any, a: Array, b: Array) -> Array:
    return xp.fmax(a, b)


@elementwise(
    "The smaller of a and b; if one is NaN, the other.",
    kind="standalone",
    dtypes=DTYPES,
    budget=EXACT,
    benchmarks=mebi(floats, positive),
)
def fmin(xp: Any, a: Array, b: Array) -> Array:
    return xp.fmin(a, b)


def clamp_samples(make: Make) -> Iterator[Sample]:
    low, high = (make.scalar(0) if make.dtype.kind == "u" else make.scalar(-1)), 1
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n), low, make.scalar(high)))
    a = make.special()
    for bounds in ((None, None), (low, None), (None, make.scalar(high))):
        yield Sample("some bounds", (a, *bounds))
    yield Sample("low above high", (a, make.scalar(3), make.scalar(1)))
    x, y = _pairs(a)
    yield Sample("arrays", (make.normal(len(x)), x, y))
    yield Sample("broadcast", (make.normal(4, 5), make.normal(5), make.normal(4, 1)))
    yield Sample("large", (make.normal(LARGE), low, make.scalar(high)))


@elementwise(
    "min(max(a, low), high); NaN stays.",
    "a low? high?",
    lead="minimum",
    dtypes=NUMBERS,
    budget=EXACT,
    flops=2,
    samples=clamp_samples,
)
def clamp(xp: Any, a: Array, low: Array | None, high: Array | None) -> Array:
    a = a if low is None else xp.maximum(a, low)
    return a if high is None else xp.minimum(a, high)


def clamp_backward_samples(make: Make) -> Iterator[Sample]:
    for sample in clamp_samples(make):
        a, *bounds = sample.inputs
        yield Sample(sample.label, (make.normal(*a.shape), a, *bounds))


@elementwise(
    "g where low <= a and max(a, low) <= high, else 0.",
    "g a low? high?",
    lead="where",
    budget=EXACT,
    flops=3,
    samples=clamp_backward_samples,
)
def clamp_backward(
    xp: Any, g: Array, a: Array, low: Array | None, high: Array | None
) -> Array:
    zero = xp.zeros((), g.dtype)
    out = g if low is None else xp.where(a >= low, g, zero)
    if high is None:
        return g.copy() if low is None else out
    raised = a if low is None else xp.maximum(a, low)
    return xp.where(raised <= high, out, zero)
