# SPDX-License-Identifier: MIT
"""`assert_close` compares tensors, arrays and numbers, and explains differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autocalc._tensor import Tensor

#: The tolerances (rtol, atol) by dtype; integers and booleans must be equal.
TOLERANCES = {np.dtype(np.float32): (1.3e-6, 1e-5), np.dtype(np.float64): (1e-7, 1e-7)}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: str | None = None,
) -> None:
    """Raise an error unless `|actual - expected| <= atol + rtol * |expected|`.

    Parameters
    ----------
    actual, expected
        Tensors, arrays or numbers, or sequences and mappings of these.
    rtol, atol
        The relative and the absolute tolerance: give both or neither.  The defaults are
        1.3e-6 and 1e-5 for float32, 1e-7 and 1e-7 for float64, and 0 for integers and
        booleans.
    equal_nan
        True to treat NaN as equal to NaN.
    check_dtype
        True to also compare the dtypes of tensors and arrays.
    msg
        A text that is put at the beginning of the error message.

    Raises
    ------
    AssertionError
        If the condition is not true for all elements.  The message gives the number of
        wrong elements and the largest difference with its position.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.testing.assert_close(ac.ones(2) / 3 * 3, ac.ones(2))
    """
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: give both `rtol` and `atol`, or neither.")
    tolerance = None if rtol is None or atol is None else (rtol, atol)
    for where, a, b in _pairs(actual, expected, ""):
        problem = _difference(a, b, tolerance, equal_nan, check_dtype)
        if problem:
            parts = [msg, f"assert_close{where}: {problem}"]
            raise AssertionError("\n".join(part for part in parts if part))


def _pairs(a: Any, b: Any, where: str) -> list[tuple[str, Any, Any]]:
    """Return the pairs to compare, each with its position in the structure."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.keys() != b.keys():
            message = f"assert_close{where}: keys {set(a)} and {set(b)} differ."
            raise AssertionError(message)
        return [p for k in a for p in _pairs(a[k], b[k], f"{where}[{k!r}]")]
    if _is_sequence(a) and _is_sequence(b):
        if len(a) != len(b):
            message = f"assert_close{where}: lengths {len(a)} and {len(b)} differ."
            raise AssertionError(message)
        return [p for i in range(len(a)) for p in _pairs(a[i], b[i], f"{where}[{i}]")]
    return [(where, a, b)]


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str)


def _array(x: Any) -> tuple[Any, bool]:
    """Return `x` as an array, and whether `x` itself has a dtype."""
    if isinstance(x, Tensor):
        return x._array, True
    return np.asarray(x), hasattr(x, "dtype")


def _difference(
    actual: Any,
    expected: Any,
    tolerance: tuple[float, float] | None,
    equal_nan: bool,
    check_dtype: bool,
) -> str:
    """Return a description of the difference, or "" if there is none."""
    a, typed_a = _array(actual)
    b, typed_b = _array(expected)
    if a.shape != b.shape:
        return f"shapes {a.shape} and {b.shape} differ."
    if check_dtype and typed_a and typed_b and a.dtype != b.dtype:
        return f"dtypes {a.dtype} and {b.dtype} differ."
    rtol, atol = tolerance or max(
        TOLERANCES.get(a.dtype, (0.0, 0.0)), TOLERANCES.get(b.dtype, (0.0, 0.0))
    )
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore"):
        error = np.abs(wide_a - wide_b)
        close = (a == b) | (error <= atol + rtol * np.abs(wide_b))
    if equal_nan:
        close |= np.isnan(wide_a) & np.isnan(wide_b)
    if close.all():
        return ""
    worst = np.where(close, -1.0, np.where(np.isnan(error), np.inf, error))
    at = np.unravel_index(int(worst.argmax()), worst.shape)
    return (
        f"{int((~close).sum())} of {close.size} elements differ by more than "
        f"{atol} + {rtol} * |expected|; most at {tuple(map(int, at))}: {a[at]} in "
        f"place of {b[at]}, an error of {error[at]:.3g}."
    )
