# SPDX-License-Identifier: MIT
"""Fourier transforms; the reference is NumPy's pocketfft.

Real operands are complex numbers whose imaginary parts are 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, log2, magnitude
from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.rules import FLOAT32, check_axes, check_axis
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, DType, Meta, Sample, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)

fft = standalone(
    "fft",
    "out ; a ; axes:ints forward:bool scale:float",
    "scale times the sums of a exp(-2 pi i j k / n) over `axes`, or of a exp(2 pi i j "
    "k / n) if not forward.",
    defaults=(True, 1.0),
    complex="rule",
)


def _complex(a: Meta) -> DType:
    """Return the complex dtype with the precision of `a`."""
    return COMPLEX64 if a.dtype in (FLOAT32, COMPLEX64) else COMPLEX128


def _real(a: Meta) -> DType:
    return FLOAT32 if _complex(a) is COMPLEX64 else np.dtype(np.float64)


@fft.rule
def _(a: Meta, axes: tuple[int, ...], forward: bool, scale: float) -> Meta:
    check_axes("fft", axes, a)
    return Meta(a.shape, _complex(a))


@fft.reference
def _(xp: Any, a: Array, axes: tuple[int, ...], forward: bool, scale: float) -> Array:
    if not a.size:
        return a + 0j
    find = xp.fft.fftn if forward else xp.fft.ifftn
    found = find(a, axes=axes, norm="backward" if forward else "forward")
    return found if scale == 1 else found * scale


def _steps(inputs: Inputs, axes: tuple[int, ...], eps: float) -> Any:
    """Return what a transform may lose: log2(n) eps times the sum of all |a|."""
    (a,) = inputs
    n = math.prod(np.shape(a)[axis] for axis in axes)
    return 2 * eps * (log2(n) + 1) * magnitude(a).sum(axis=axes, keepdims=True)


@fft.budget("2 (log2(n) + 1) * eps * scale * sum(|a|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [_steps(inputs, attributes[0], eps) * attributes[2]]


_SHAPES = (((8,), 0), ((7,), 0), ((3, 5), 0), ((2, 3, 4), 1), ((1, 1), 1), ((0, 4), 1))


@fft.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, axis in _SHAPES:
        for forward in (True, False):
            label = f"{shape} over {axis}, {forward}"
            yield Sample(label, (make.normal(*shape),), ((axis,), forward, 0.5))
    yield Sample("two axes", (make.normal(4, 6, 3),), ((0, 1), True, 1.0))


def _work(a: Meta, *attributes: Any) -> Work:
    """Count 5 n log2(n) operations, as is usual for transforms of n numbers."""
    n = max(size(a), 2)
    return Work(5 * n * math.log2(n), 3 * nbytes(a))


fft.work(_work)
fft.benchmarks(Case("64 x 1024", floats(64, 1024), ((1,), True, 1.0)))


rfft = standalone(
    "rfft",
    "out ; a ; axis:int scale:float",
    "scale times the first n // 2 + 1 sums of a exp(-2 pi i j k / n) along `axis`, for "
    "real a.",
    defaults=(1.0,),
)


@rfft.rule
def _(a: Meta, axis: int, scale: float) -> Meta:
    check_axis("rfft", axis, a)
    half = a.shape[axis] // 2 + 1
    return Meta((*a.shape[:axis], half, *a.shape[axis + 1 :]), _complex(a))


@rfft.reference
def _(xp: Any, a: Array, axis: int, scale: float) -> Array:
    if not a.size:
        shape = list(a.shape)
        shape[axis] = shape[axis] // 2 + 1
        return xp.zeros(shape, COMPLEX128)
    found = xp.fft.rfft(a, axis=axis)
    return found if scale == 1 else found * scale


@rfft.budget("2 (log2(n) + 1) * eps * scale * sum(|a|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [_steps(inputs, (attributes[0],), eps) * attributes[1]]


@rfft.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, axis in _SHAPES:
        yield Sample(f"{shape} along {axis}", (make.normal(*shape),), (axis, 0.5))


rfft.work(_work)
rfft.benchmarks(Case("64 x 1024", floats(64, 1024), (1, 1.0)))


irfft = standalone(
    "irfft",
    "out ; a ; axis:int size:int scale:float",
    "The `size` real numbers whose transform without scale starts with a, times "
    "scale; a has size // 2 + 1 elements along `axis`.",
    defaults=(1.0,),
    complex="rule",
)


@irfft.rule
def _(a: Meta, axis: int, size: int, scale: float) -> Meta:
    check_axis("irfft", axis, a)
    if a.shape[axis] != size // 2 + 1:
        raise ShapeError(
            f"irfft: `a` has shape {a.shape}; along axis {axis} it must have "
            f"{size // 2 + 1} elements for a result of {size}."
        )
    return Meta((*a.shape[:axis], size, *a.shape[axis + 1 :]), _real(a))


@irfft.reference
def _(xp: Any, a: Array, axis: int, size: int, scale: float) -> Array:
    if not a.size:
        return xp.zeros((*a.shape[:axis], size, *a.shape[axis + 1 :]))
    found = xp.fft.irfft(a, size, axis=axis, norm="forward")
    return found if scale == 1 else found * scale


@irfft.budget("4 (log2(n) + 1) * eps * scale * sum(|a|)")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    return [2 * _steps(inputs, (attributes[0],), eps) * attributes[2]]


@irfft.samples
def _(make: Make) -> Iterator[Sample]:
    for shape, axis in _SHAPES:
        for size_ in (2 * shape[axis] - 1, 2 * shape[axis] - 2):
            if size_ > 0:
                label = f"{shape} along {axis} to {size_}"
                yield Sample(label, (make.normal(*shape),), (axis, size_, 0.5))


irfft.work(_work)
irfft.benchmarks(Case("64 x 513", floats(64, 513), (1, 1024, 1 / 1024)))
