# SPDX-License-Identifier: MIT
"""The expected result of a call: the reference in the next wider precision.

For float32 that is float64.  For float64 it is the long double of x86 (64 bits of
significand), with mpmath for what NumPy lacks there; where long double is no wider,
float64 itself, and `slack` says how much that costs.

A composite's reference may be the formula of its decomposition, too.  Then neither is
proof of the other: AutoCalc's own tests hold such formulas to other algorithms.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import HALVES
from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.adapter import call_of
from autocalc._kernels.spec import Array, DType, KernelSpec, Sample

#: Whether long double is wider than float64.
HAS_WIDER = bool(np.finfo(np.longdouble).eps < 1e-18)

#: mpmath takes 20 microseconds for a value: beyond this the C library answers, which
#: is off by less than 1 ULP.
MPMATH_LIMIT = 1000


def widened(dtype: DType) -> DType:
    """Return the dtype that the oracle computes in."""
    if dtype == np.float32 or dtype in HALVES:
        return np.dtype(np.float64)
    if dtype == np.float64:
        return np.dtype(np.longdouble)
    return dtype


def slack(dtype: DType) -> float:
    """Return by what the budgets grow because the oracle is no wider itself."""
    return 1.0 if HAS_WIDER or dtype != np.float64 else 2.0


def _widely(name: str) -> Callable[[Array], Array]:
    """Make the function `name` of mpmath, on arrays, in long double."""

    def call(a: Array) -> Array:
        # In float64, for kernels of float32, the C library errs by 2^-29 of their ULP.
        if np.size(a) > MPMATH_LIMIT or a.dtype != np.longdouble:
            return getattr(numpy_xp, name)(a)
        try:
            import mpmath
        except ImportError:
            return getattr(numpy_xp, name)(a)
        function = getattr(mpmath, name)
        near = np.clip(np.ravel(a), -30, 30)  # beyond it is 0, 1 or 2 in float64
        with mpmath.workprec(80):
            values = [_to_long_double(function(float(x))) for x in near]
        found = np.array(values, np.longdouble).reshape(np.shape(a))
        return np.where(found == 0, np.copysign(0, a), found)  # mpmath has one zero

    return call


def _to_long_double(x: Any) -> Any:
    high = float(x)
    return np.longdouble(high) + np.longdouble(float(x - high))


class _WideNamespace(types.SimpleNamespace):
    """`xp` whose extras are as precise as long double."""

    erf = staticmethod(_widely("erf"))
    erfc = staticmethod(_widely("erfc"))

    def __getattr__(self, name: str) -> Any:
        return getattr(numpy_xp, name)


_WIDE = _WideNamespace()


def widen(operand: Any) -> Any:
    """Return an operand in the oracle's dtype."""
    if operand is None:
        return None
    if isinstance(operand, (list, tuple)):
        return tuple(map(widen, operand))
    return np.asarray(operand).astype(widened(operand.dtype))


def expected(
    spec: KernelSpec,
    sample: Sample,
    dtype: DType,
    accumulate: int = 0,
    prior: tuple[Any, ...] = (),
) -> tuple[Any, ...]:
    """Return every output of a call; `prior` holds what outputs are added to."""
    n = len(spec.writes)
    inputs = tuple(map(widen, sample.inputs))
    outs: list[Any] = [_Wanted] * len(spec.outputs)
    for i, output in enumerate(spec.outputs):
        if output.name in spec.writes:
            outs[i] = inputs[spec.writes.index(output.name)]
        elif accumulate >> i & 1:
            outs[i] = widen(prior[i])
        elif output.optional and not sample.want >> i & 1:
            outs[i] = None
    if spec.free:
        # Random numbers depend on the dtype: 24 bits for float32, 53 for float64.
        outs[0] = _Shaped(sample.shape, dtype)
    arguments = (*inputs[n:], *sample.attributes)
    if spec.accumulates:
        arguments = (*arguments, accumulate)
    with np.errstate(all="ignore"):
        return call_of(spec)(_WIDE, spec.reference, tuple(outs), arguments)


class _Wanted:
    """Stands for an output that is to be computed."""


class _Shaped:
    """Stands for the output of a spec that is free: its shape and dtype."""

    def __init__(self, shape: Any, dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype
