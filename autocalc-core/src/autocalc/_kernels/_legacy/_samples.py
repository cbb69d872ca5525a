# SPDX-License-Identifier: MIT
"""Sample calls of elementwise kernels, reductions, softmax and indices.

``samples(make)`` yields `Sample`s made with a `Make`; the conformance kit adds layouts,
alignments, aliases and patterns of absent operands by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from autocalc._kernels.samples import (
    BROADCAST,
    FEW_TAILS,
    LARGE,
    SHAPES,
    TAILS,
    Make,
    Samples,
)
from autocalc._kernels.samples import binary as _binary
from autocalc._kernels.samples import pairs as _pairs
from autocalc._kernels.samples import unary as _unary
from autocalc._kernels.spec import Array, Sample


def elementwise(arity: int) -> Samples:
    """Sample a kernel of one or two operands."""
    return _unary if arity == 1 else _binary


def power(make: Make) -> Iterator[Sample]:
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


def compare(make: Make) -> Iterator[Sample]:
    ops = ("eq", "ne", "lt", "le", "gt", "ge")
    for op in ops:
        for sample in _binary(make) if op in {"eq", "lt"} else ():
            yield Sample(f"{sample.label}, {op}", sample.inputs, (op,))
        for n in (0, 1, 17, 65):
            yield Sample(f"{op} n={n}", (make.normal(n), make.normal(n)), (op,))
        yield Sample(f"{op} special", _pairs(make.special()), (op,))


def where(make: Make) -> Iterator[Sample]:
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


def rounding(make: Make) -> Iterator[Sample]:
    halves = (np.arange(-9, 10) / 2).astype(make.dtype)
    for mode in ("floor", "ceil", "trunc", "even"):
        yield Sample(f"{mode} halves", (halves,), (mode,))
        for sample in _unary(make) if mode == "floor" else ():
            yield Sample(f"{sample.label}, {mode}", sample.inputs, (mode,))
        yield Sample(f"{mode} special", (make.special(),), (mode,))
        yield Sample(f"{mode} any size", (make.any_size(999),), (mode,))


def clamp(make: Make) -> Iterator[Sample]:
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


def relu_backward(make: Make) -> Iterator[Sample]:
    return _activation_backward(make, 0.0, 4.0)


def sigmoid_backward(make: Make) -> Iterator[Sample]:
    return _activation_backward(make, 0.0, 1.0)


def tanh_backward(make: Make) -> Iterator[Sample]:
    return _activation_backward(make, -1.0, 1.0)


def _activation_backward(make: Make, low: float, high: float) -> Iterator[Sample]:
    """Take as `y` what the forward kernel can answer: `low` to `high`, or NaN."""
    special = np.array([low, high, 0.0, -0.0, 0.5, np.nan], make.dtype)
    for sample in _binary(make):
        g, y = sample.inputs
        if sample.label == "special":
            g, y = np.meshgrid(make.special(), special)
        else:
            y = np.asarray(low + (high - low) * make.rng.random(y.shape), make.dtype)
        yield Sample(sample.label, (g, y))


def fill(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(),), shape=(n,))
    for shape in SHAPES:
        yield Sample(f"shape={shape}", (make.normal(),), shape=shape)
    for value in make.special():
        yield Sample(f"value={value}", (np.array(value),), shape=(5,))
    yield Sample("large", (make.normal(),), shape=(LARGE,))


def axpy(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n), make.normal(), make.normal(n)))
    for shape in SHAPES:
        triple = (make.normal(*shape), make.normal(), make.normal(*shape))
        yield Sample(f"shape={shape}", triple)
    y, x = _pairs(make.special())
    yield Sample("large", (make.normal(LARGE), make.normal(), make.normal(LARGE)))
    for alpha in (0.0, 1.0, -0.5):
        yield Sample(f"special, alpha={alpha}", (y, make.scalar(alpha), x))


# ---- reductions ----------------------------------------------------------------------


def reduction(make: Make) -> Iterator[Sample]:
    yield from nonempty_reduction(make)
    for shape, axes in (((0,), (0,)), ((0, 3), (0,)), ((3, 0), (1,)), ((0, 0), (0, 1))):
        for keepdim in (False, True):
            label = f"{shape} over {axes}"
            yield Sample(label, (make.normal(*shape),), (axes, keepdim))


def nonempty_reduction(make: Make) -> Iterator[Sample]:
    yield Sample("0-d", (make.normal(),), ((), False))
    for n in TAILS[1:]:
        yield Sample(f"n={n}", (make.normal(n),), ((0,), False))
    for n in FEW_TAILS:
        yield Sample(f"rows of {n}", (make.normal(5, n),), ((1,), False))
        yield Sample(f"columns of {n}", (make.normal(n, 5),), ((0,), True))
    for shape in ((2, 3, 5), (3, 1, 4), (2, 1, 3, 4, 1)):
        every = range(len(shape))
        subsets = [s for r in every for s in combinations(every, r + 1)]
        for i, axes in enumerate(subsets):
            label = f"{shape} over {axes}"
            yield Sample(label, (make.normal(*shape),), (axes, i % 2 == 0))
    yield Sample("(0, 3) over (1,)", (make.normal(0, 3),), ((1,), False))
    yield Sample("large vector", (make.normal(LARGE),), ((0,), False))
    yield Sample("large, rows", (make.normal(700, 401),), ((1,), False))
    yield Sample("large, columns", (make.normal(700, 401),), ((0,), False))
    if make.is_float:
        yield from _special_reductions(make)


def _special_reductions(make: Make) -> Iterator[Sample]:
    for value in (np.inf, -np.inf, np.nan, 0.0, -0.0):
        for where in (0, 18, 36):
            a = make.normal(37)
            a[where] = value
            yield Sample(f"{value} at {where}", (a,), ((0,), False))
    ends = make.normal(37)
    ends[[3, 30]] = np.inf, -np.inf
    yield Sample("both infinities", (ends,), ((0,), False))
    for value in (np.inf, -np.inf, np.nan, -0.0):
        a = np.full((3, 20), value, make.dtype)
        yield Sample(f"all {value}", (a,), ((1,), False))
    tiny = np.finfo(make.dtype).tiny
    yield Sample("subnormal", (make.normal(40) * tiny,), ((0,), False))
    yield Sample("far from 0", (make.normal(40) * 1000 + 1e4,), ((0,), False))


def argmax(make: Make) -> Iterator[Sample]:
    for sample in nonempty_reduction(make):
        axes, keepdim = sample.attributes
        if len(axes) == 1:
            yield Sample(sample.label, sample.inputs, (axes[0], keepdim))
    for n in FEW_TAILS:
        yield Sample(f"{n} equals", (np.ones((2, n), make.dtype),), (1, False))
        yield Sample(f"{n} few", (make.mask(3, n).astype(make.dtype),), (1, False))


def var(make: Make) -> Iterator[Sample]:
    for i, sample in enumerate(reduction(make)):
        attributes = (*sample.attributes, float(i % 2))
        yield Sample(sample.label, sample.inputs, attributes, want=0b10)


# ---- softmax -------------------------------------------------------------------------


def softmax(make: Make) -> Iterator[Sample]:
    for n in TAILS:
        yield Sample(f"n={n}", (make.normal(n, scale=3.0),), (0,))
    for n in FEW_TAILS:
        yield Sample(f"rows of {n}", (make.normal(5, n, scale=3.0),), (1,))
        yield Sample(f"columns of {n}", (make.normal(n, 5, scale=3.0),), (0,))
    for shape, axis in (((2, 3, 5), 1), ((0, 3), 1), ((3, 0), 1), ((0, 3), 0)):
        yield Sample(f"{shape} along {axis}", (make.normal(*shape),), (axis,))
    yield Sample("large, rows", (make.normal(700, 401),), (1,))
    yield Sample("large, columns", (make.normal(700, 401),), (0,))
    yield Sample("far apart", (make.normal(4, 33, scale=300.0),), (1,))
    yield Sample("far from 0", (make.normal(4, 33) + 1e4,), (1,))
    for value in (-np.inf, np.inf, np.nan):
        a = make.normal(3, 21)
        a[1, 4] = value
        yield Sample(f"one {value}", (a,), (1,))
        a = make.normal(3, 21)
        a[1] = value
        yield Sample(f"a row of {value}", (a,), (1,))


def softmax_backward(make: Make) -> Iterator[Sample]:
    for sample in softmax(make):
        yield _backward(make, sample, lambda e, total: e / total)


def log_softmax_backward(make: Make) -> Iterator[Sample]:
    for sample in softmax(make):
        yield _backward(make, sample, lambda e, total: np.log(e / total))


def _backward(
    make: Make, sample: Sample, forward: Callable[[Array, Array], Array]
) -> Sample:
    """Take as `y` what the forward kernel would have answered."""
    (a,), (axis,) = sample.inputs, sample.attributes
    with np.errstate(all="ignore"):
        a = a.astype(np.float64)
        e = np.exp(a - a.max(axis=axis, keepdims=True, initial=-np.inf))
        y = forward(e, e.sum(axis=axis, keepdims=True)).astype(make.dtype)
    return Sample(sample.label, (make.normal(*a.shape), y), (axis,))


# ---- indices -------------------------------------------------------------------------

_ALONG = (((5,), 0), ((4, 6), 0), ((4, 6), 1), ((2, 5, 3), 1), ((1, 7), 0))


def gather(make: Make) -> Iterator[Sample]:
    for shape, axis in _ALONG:
        for n in (0, 1, 3, 17):
            index = make.indices((*shape[:axis], n, *shape[axis + 1 :]), shape[axis])
            label = f"{shape} along {axis}, {n} each"
            yield Sample(label, (make.normal(*shape), index), (axis,))
    yield Sample("nothing from nothing", (make.normal(0, 2), _none(0, 2)), (0,))
    index = make.indices((900, 301), 500)
    yield Sample("large", (make.normal(500, 301), index), (0,))


def scatter_add(make: Make) -> Iterator[Sample]:
    for sample in gather(make):
        a, index = sample.inputs
        src = make.normal(*index.shape)
        yield Sample(sample.label, (a, index, src), sample.attributes)


def index_select(make: Make) -> Iterator[Sample]:
    for shape, axis in _ALONG:
        for n in (0, 1, 3, 17):
            label = f"{shape} along {axis}, {n}"
            index = make.indices((n,), shape[axis])
            yield Sample(label, (make.normal(*shape), index), (axis,))
    index = make.indices((900,), 500)
    yield Sample("large", (make.normal(500, 301), index), (0,))


def index_add(make: Make) -> Iterator[Sample]:
    for sample in index_select(make):
        (a, index), (axis,) = sample.inputs, sample.attributes
        src = make.normal(*a.shape[:axis], len(index), *a.shape[axis + 1 :])
        yield Sample(sample.label, (a, index, src), (axis,))


def _none(*shape: int) -> Array:
    return np.zeros(shape, np.int64)


def embedding(make: Make) -> Iterator[Sample]:
    for width in (*FEW_TAILS, 0):
        weight = make.normal(6, width)
        yield Sample(f"width {width}", (weight, make.indices((4,), 6)))
    for shape in ((), (0,), (2, 3), (2, 1, 5)):
        yield Sample(f"{shape}", (make.normal(9, 5), make.indices(shape, 9)))
    yield Sample("large", (make.normal(500, 301), make.indices((900,), 500)))


def embedding_backward(make: Make) -> Iterator[Sample]:
    for padding in (-1, 2):
        for sample in embedding(make):
            weight, indices = sample.inputs
            g = make.normal(*indices.shape, weight.shape[1])
            label = f"{sample.label}, padding {padding}"
            yield Sample(label, (g, indices), (padding,), shape=weight.shape)
