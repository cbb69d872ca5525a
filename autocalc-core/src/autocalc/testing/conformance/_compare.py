# SPDX-License-Identifier: MIT
"""Compare results with the error budget, and report the excess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import HALVES
from autocalc._kernels.budgets import ulp
from autocalc._kernels.spec import Array, KernelSpec
from autocalc.testing.conformance._halves import largest_of

#: Elementwise kernels in which a zero may have either sign.  Either the formula selects
#: one of two equal zeros or leaves the sign open, or both terms of a difference are 0.
EITHER_ZERO = frozenset(
    {"clamp", "elu", "fmax", "fmin", "gelu", "gelu_backward", "hardtanh", "maximum"}
    | {"logistic_slope", "minimum", "pow", "relu", "xlog1py", "xlogy"}
)
#: Kernels that keep the sign of a zero, and are not elementwise.
KEEP_SIGN_OF_ZERO = frozenset({"gather", "embedding", "index_select"})


@dataclass
class Worst:
    """The worst error so far, in ULP of the result and as a share of the budget."""

    ulp: float = 0.0
    share: float = 0.0
    calls: int = 0

    def include(self, ulp_: float, share: float) -> None:
        """Update the worst error with a new one."""
        self.ulp = max(self.ulp, ulp_)
        self.share = max(self.share, share)


def compare(
    spec: KernelSpec, name: str, actual: Array, expected: Array, tolerance: Any
) -> tuple[float, float]:
    """Return (error in ULP, share of the budget), or raise for the worst element."""
    dtype = actual.dtype
    if dtype in HALVES:
        actual = actual.astype(np.float32)
    if actual.dtype.kind == "c":
        return _compare_parts(spec, name, actual, np.asarray(expected), tolerance)
    if actual.dtype.kind != "f":
        _compare_exactly(name, actual, np.asarray(expected))
        return 0.0, 0.0
    if not actual.size:
        return 0.0, 0.0
    eps = float(np.finfo(actual.dtype).eps)
    expected = np.asarray(expected)
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype).astype(actual.dtype)
        error = np.abs(actual.astype(expected.dtype) - expected).astype(np.float64)
        limit = np.broadcast_to(np.asarray(tolerance, np.float64), error.shape)
    special = ~(np.isfinite(rounded) & np.isfinite(actual))
    wrong = np.asarray(~(error <= limit))
    any_special = bool(special.any())
    if any_special:
        largest = largest_of(dtype)
        same = _same_special(actual, rounded, expected, limit, largest)
        wrong = np.where(special, ~same, wrong)
    if spec.name in KEEP_SIGN_OF_ZERO or _keeps_zeros(spec):
        zero = (rounded == 0) & (actual == 0)
        wrong |= zero & (np.signbit(rounded) != np.signbit(actual))
    if wrong.any():
        _fail(spec, name, actual, expected, error, limit, wrong, eps)
    unit = ulp(expected, eps)
    if any_special:
        if special.all():
            return 0.0, 0.0
        error, limit, unit = error[~special], limit[~special], unit[~special]
    return float(_ratio(error, unit).max()), float(_ratio(error, limit).max())


def _compare_parts(
    spec: KernelSpec, name: str, actual: Array, expected: Array, tolerance: Any
) -> tuple[float, float]:
    """Compare complex numbers; each part may be off by as much as the number.

    The error is in ULP of the absolute value, as a part may be nearly 0.
    """
    real = compare(spec, f"{name}.real", actual.real, expected.real, tolerance)
    imag = compare(spec, f"{name}.imag", actual.imag, expected.imag, tolerance)
    with np.errstate(all="ignore"):
        error = np.abs(actual - expected).astype(np.float64)
        unit = ulp(np.abs(expected), float(np.finfo(actual.dtype).eps))
    off = _ratio(error, unit)[np.isfinite(error)]
    return float(off.max(initial=0.0)), max(real[1], imag[1])


def _keeps_zeros(spec: KernelSpec) -> bool:
    """Return whether each zero of an elementwise kernel has the sign of its formula."""
    return spec.elementwise and spec.name not in EITHER_ZERO


def _ratio(a: Array, b: Array) -> Array:
    with np.errstate(over="ignore"):  # an expected 0 may be off by many ULP
        return np.divide(a, b, out=np.zeros(a.shape), where=b > 0)


def _same_special(
    actual: Array, rounded: Array, expected: Array, limit: Array, largest: float
) -> Array:
    """Return where both are NaN, or an infinity is within the budget."""
    near = np.abs(expected) + limit >= largest
    close = near & (np.signbit(actual) == np.signbit(rounded))
    with np.errstate(all="ignore"):
        large = np.isinf(actual) | (np.abs(actual).astype(expected.dtype) + limit
                                    >= largest)  # fmt: skip
    both_nan = np.isnan(actual) & np.isnan(rounded)
    neither_nan = ~np.isnan(actual) & ~np.isnan(rounded)
    return both_nan | (actual == rounded) | (neither_nan & close & large)


def _compare_exactly(name: str, actual: Array, expected: Array) -> None:
    """Raise unless integers or booleans are equal; a boolean is the byte 0 or 1."""
    if actual.dtype == np.bool_ and (actual.view(np.uint8) > 1).any():
        message = f"`{name}` holds bytes that are not booleans; they must be 0 or 1"
        raise AssertionError(message)
    wrong = np.asarray(actual != expected)
    if wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        raise AssertionError(
            f"`{name}`{_index(place)} is {actual[place]}, expected {expected[place]} "
            f"({int(wrong.sum())} of {wrong.size} differ)"
        )


def _fail(
    spec: KernelSpec,
    name: str,
    actual: Array,
    expected: Array,
    error: Array,
    limit: Array,
    wrong: Array,
    eps: float,
) -> None:
    with np.errstate(all="ignore"):
        badness = np.where(wrong, np.nan_to_num(error / limit, nan=np.inf), -1.0)
    place = np.unravel_index(int(badness.argmax()), wrong.shape)
    with np.errstate(all="ignore"):
        in_ulp = error[place] / ulp(expected[place], eps)
    raise AssertionError(
        f"`{name}`{_index(place)} is {actual[place]!r}, expected "
        f"{float(expected[place])!r}: off by {error[place]:.3g} ({in_ulp:.3g} ULP), "
        f"allowed {limit[place]:.3g} (budget: {spec.budget.text}); {int(wrong.sum())} "
        f"of {wrong.size} elements exceed it"
    )


def _index(place: tuple[Any, ...]) -> str:
    return f"[{', '.join(str(int(i)) for i in place)}]" if place else ""
