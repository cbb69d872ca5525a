# SPDX-License-Identifier: MIT
"""Products, running sums and products, and the order of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels._legacy._budgets import Inputs, budget, magnitude, ulp
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    DTYPES,
    FLOATS,
    INT64,
    check_axes,
    check_axis,
    reduced_shape,
)
from autocalc._kernels.samples import FEW_TAILS, Make
from autocalc._kernels.spec import Array, Attributes, KernelSpec, Meta, Sample
from autocalc._kernels.work import per_element

Axes = tuple[int, ...]

# ---- rules ---------------------------------------------------------------------------


def _prod_rule(a: Meta, axes: Axes, keepdim: bool) -> Meta:
    check_axes("prod", axes, a)
    dtype = a.dtype if a.dtype in FLOATS else INT64
    return Meta(reduced_shape(a.shape, axes, keepdim), dtype)


def _scan_rule(name: str) -> Callable[..., Meta]:
    def rule(a: Meta, axis: int, *attributes: Any) -> Meta:
        check_axis(name, axis, a)
        return Meta(a.shape, a.dtype if a.dtype in FLOATS else INT64)

    return rule


def _argsort_rule(a: Meta, axis: int, descending: bool) -> Meta:
    check_axis("argsort", axis, a)
    return Meta(a.shape, INT64)


# ---- references ----------------------------------------------------------------------


def _summed(xp: Any, a: Array) -> Array:
    """Return `a` in the dtype that its sums and products are taken in."""
    return wide(xp, a) if a.dtype.kind == "f" else a.astype(xp.int64)


def _result(total: Array, a: Array) -> Array:
    return narrow(total, a) if a.dtype.kind == "f" else total


def prod(xp: Any, a: Array, axes: Axes, keepdim: bool) -> Array:
    return _result(xp.prod(_summed(xp, a), axis=axes, keepdims=keepdim), a)


def cumsum(xp: Any, a: Array, axis: int, reverse: bool) -> Array:
    x = _summed(xp, a)
    if reverse:
        return _result(xp.flip(xp.cumsum(xp.flip(x, axis), axis=axis), axis), a)
    return _result(xp.cumsum(x, axis=axis), a)


def cumprod(xp: Any, a: Array, axis: int) -> Array:
    return _result(xp.cumprod(_summed(xp, a), axis=axis), a)


def argsort(xp: Any, a: Array, axis: int, descending: bool) -> Array:
    if not descending:
        return xp.argsort(a, axis=axis, kind="stable")
    order = xp.argsort(xp.flip(a, axis), axis=axis, kind="stable")
    return a.shape[axis] - 1 - xp.flip(order, axis)


# ---- budgets -------------------------------------------------------------------------


@budget("n * eps * |out|, n factors")
def _product(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    shape, axes = np.shape(inputs[0]), attributes[0]
    axes = axes if isinstance(axes, tuple) else (axes,)
    n = int(np.prod([shape[axis] for axis in axes]))
    return [n * eps * magnitude(expected[0]) + ulp(expected[0], eps)]


@budget("n * eps * |out|, n factors; what products below the normal numbers lose")
def _running_product(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (a,), (axis,) = inputs, attributes
    numbers = np.finfo(np.float32 if eps > 1e-10 else np.float64)
    factors = np.moveaxis(magnitude(a), axis, 0)
    below = np.moveaxis(magnitude(expected[0]), axis, 0) < 2 * float(numbers.tiny)
    lost = np.zeros(factors.shape)
    for i, factor in enumerate(factors):
        before = lost[i - 1] if i else 0.0
        lost[i] = before * factor + below[i] * float(numbers.smallest_subnormal)
    limit = a.shape[axis] * eps * magnitude(expected[0]) + ulp(expected[0], eps)
    return [limit + np.moveaxis(lost, 0, axis)]


@budget("n * eps * sum(|a|) of the terms so far")
def _running(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (a,), (axis, reverse) = inputs, attributes
    total = magnitude(a)
    total = np.flip(total, axis) if reverse else total
    total = np.cumsum(total, axis=axis)
    total = np.flip(total, axis) if reverse else total
    return [a.shape[axis] * eps * total + ulp(expected[0], eps)]


# ---- samples -------------------------------------------------------------------------

_SHAPES = (((3, 5), 0), ((3, 5), 1), ((2, 3, 4), 1), ((0, 3), 1), ((3, 0), 1))


def _along(make: Make) -> Iterator[Sample]:
    for n in (1, *FEW_TAILS):
        yield Sample(f"n={n}", (make.normal(n),), (0,))
    for shape, axis in _SHAPES:
        yield Sample(f"{shape} along {axis}", (make.normal(*shape),), (axis,))
    yield Sample("large", (make.normal(70, 401),), (1,))
    if make.is_float:
        rows = np.tile(make.special(), (3, 1))
        yield Sample("special", (rows,), (0,))
        yield Sample("one special", (rows[:1].T + make.normal(3),), (1,))


def _products(make: Make) -> Iterator[Sample]:
    for sample in samples.reduction(make):
        if "large" not in sample.label:
            yield sample
    near_one = 1 + make.normal(7, 401) / 1000 if make.is_float else make.normal(7, 401)
    yield Sample("large", (np.asarray(near_one, make.dtype),), ((1,), False))


def _with_a_choice(make: Make) -> Iterator[Sample]:
    for sample in _along(make):
        for choice in (False, True):
            label = f"{sample.label}, {choice}"
            yield Sample(label, sample.inputs, (*sample.attributes, choice))


def _equals(make: Make) -> Iterator[Sample]:
    yield from _with_a_choice(make)
    for choice in (False, True):
        few = make.mask(3, 33).astype(make.dtype)
        yield Sample(f"equals, {choice}", (few,), (1, choice))


# ---- specs ---------------------------------------------------------------------------

_cumsum_rule, _cumprod_rule = _scan_rule("cumsum"), _scan_rule("cumprod")

SPECS = (
    KernelSpec(
        name="prod",
        kind="standalone",
        signature="out ; a ; axes:ints keepdim:bool",
        doc="The product over `axes`; of integers and booleans in int64.",
        rule=_prod_rule,
        reference=prod,
        budget=_product,
        samples=_products,
        work=per_element(_prod_rule, 1),
        dtypes=DTYPES,
        defaults=(False,),
    ),
    KernelSpec(
        name="cumsum",
        kind="standalone",
        signature="out ; a ; axis:int reverse:bool",
        doc="The sums of the first 1, 2, ... n elements, or of the last, along `axis`.",
        rule=_cumsum_rule,
        reference=cumsum,
        budget=_running,
        samples=_with_a_choice,
        work=per_element(_cumsum_rule, 1),
        dtypes=DTYPES,
        defaults=(False,),
    ),
    KernelSpec(
        name="cumprod",
        kind="standalone",
        signature="out ; a ; axis:int",
        doc="The products of the first 1, 2, ... n elements along `axis`.",
        rule=_cumprod_rule,
        reference=cumprod,
        budget=_running_product,
        samples=_along,
        work=per_element(_cumprod_rule, 1),
        dtypes=DTYPES,
    ),
    KernelSpec(
        name="argsort",
        kind="standalone",
        signature="out ; a ; axis:int descending:bool",
        doc="The indices that sort along `axis`: stable, NaN the largest.",
        rule=_argsort_rule,
        reference=argsort,
        budget=budgets.EXACT,
        samples=_equals,
        work=per_element(_argsort_rule, 10),
        dtypes=DTYPES,
        defaults=(False,),
    ),
)
