# SPDX-License-Identifier: MIT
"""The oracle: expected results from the reference in the next wider precision.

For float32, this is float64.  For float64, it is the long double of x86 with a 64-bit
significand; mpmath computes the functions that NumPy lacks for it.  If long double is
not wider than float64, the oracle uses float64 itself, and `slack` gives the additional
error.

The reference of a composite may be the same formula as its decomposition.  Then the two
do not verify each other.  AutoCalc's own tests compare such formulas with other
algorithms.
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

#: The largest array for mpmath, which takes 20 microseconds per value.  For larger
#: arrays the C library is used, whose error is less than 1 ULP.
MPMATH_LIMIT = 1000


def widened(dtype: DType) -> DType:
    """Return the dtype that the oracle computes in."""
    if dtype == np.float32 or dtype in HALVES:
        return np.dtype(np.float64)
    if dtype == np.float64:
        return np.dtype(np.longdouble)
    return dtype


def slack(dtype: DType) -> float:
    """Return the factor for budgets if the oracle is not wider than the dtype."""
    return 1.0 if HAS_WIDER or dtype != np.float64 else 2.0


def _widely(name: str) -> Callable[[Array], Array]:
    """Return mpmath's function `name` for arrays, in long double."""

    def call(a: Array) -> Array:
        # For kernels in float32, the C library in float64 is off by 2^-29 ULP of
        # float32.
        if np.size(a) > MPMATH_LIMIT or a.dtype != np.longdouble:
            return getattr(numpy_xp, name)(a)
        try:
            import mpmath
        except ImportError:
            return getattr(numpy_xp, name)(a)
        function = getattr(mpmath, name)
        near = np.clip(np.ravel(a), -30, 30)  # 0, 1 or 2 in float64 outside of it
        with mpmath.workprec(80):
            values = [_to_long_double(function(float(x))) for x in near]
        found = np.array(values, np.longdouble).reshape(np.shape(a))
        return np.where(found == 0, np.copysign(0, a), found)  # mpmath has no -0

    return call


def _to_long_double(x: Any) -> Any:
    high = float(x)
    return np.longdouble(high) + np.longdouble(float(x - high))


class _WideNamespace(types.SimpleNamespace):
    """The namespace `xp` with additional functions in the precision of long double."""

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
    """Return each output of a call; outputs are added to the values in `prior`."""
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
    """A placeholder for an output to compute."""


class _Shaped:
    """A placeholder with shape and dtype, for outputs that inputs do not determine."""

    def __init__(self, shape: Any, dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype
