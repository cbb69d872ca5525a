# SPDX-License-Identifier: MIT
"""Window functions, which fade a part of a signal at both ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.declared import declared
from autocalc._ops.creation.constants import count_of, finished, float_or, placed
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.device import Device, present
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
]


@declared
def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the triangular window, 1 - abs(2 n / (N - 1) - 1).

    Parameters
    ----------
    window_length
        The number N of values, which have the indices n = 0, ..., N - 1.
    periodic
        True to divide by N instead of N - 1, which gives a window that can be repeated;
        False gives a symmetric window.
    dtype
        The dtype of the result, a floating-point dtype.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

    def triangle(place: Any) -> Any:
        return 1 - abs(2 * place - 1)

    where = "bartlett_window"
    return _window(
        where, triangle, window_length, periodic, dtype, device, requires_grad
    )


@declared
def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the Hann window, 1/2 - cos(2 pi n / (N - 1)) / 2.

    Parameters
    ----------
    window_length
        The number N of values, which have the indices n = 0, ..., N - 1.
    periodic
        True to divide by N instead of N - 1, so that the window can be repeated; False
        makes it symmetric.
    dtype
        The dtype of the result, a floating-point dtype.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    where = "hann_window"
    wave = _cosines(0.5, -0.5)
    return _window(where, wave, window_length, periodic, dtype, device, requires_grad)


@declared
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the Hamming window, alpha - beta * cos(2 pi n / (N - 1)).

    Parameters
    ----------
    window_length
        The number N of values, which have the indices n = 0, ..., N - 1.
    periodic
        True to divide by N instead of N - 1, so that the window can be repeated; False
        makes it symmetric.
    alpha
        The constant alpha of the formula.
    beta
        The amplitude of the cosine.
    dtype
        The dtype of the result, a floating-point dtype.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hamming_window(4, alpha=0.5, beta=0.25)
    tensor([0.2500, 0.5000, 0.7500, 0.5000])
    """
    where = "hamming_window"
    level, swing = number(where, "alpha", alpha), number(where, "beta", beta)
    wave = _cosines(level, -swing)
    return _window(where, wave, window_length, periodic, dtype, device, requires_grad)


@declared
def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the Blackman window of N values n = 0, ..., N - 1.

    It is 0.42 - 0.5 cos(2 pi n / (N - 1)) + 0.08 cos(4 pi n / (N - 1)).

    Parameters
    ----------
    window_length
        The number N of values, which have the indices n = 0, ..., N - 1.
    periodic
        True to divide by N instead of N - 1, so that the window can be repeated; False
        makes it symmetric.
    dtype
        The dtype of the result, a floating-point dtype.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.blackman_window(2).round(decimals=3)
    tensor([-0., 1.])
    """
    where = "blackman_window"
    wave = _cosines(0.42, -0.5, 0.08)
    return _window(where, wave, window_length, periodic, dtype, device, requires_grad)


@declared
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the Kaiser window of N values n = 0, ..., N - 1.

    It is I0(beta * sqrt(1 - (2 n / (N - 1) - 1)^2)) / I0(beta), where I0 is the
    modified Bessel function of the first kind of order 0.

    Parameters
    ----------
    window_length
        The number N of values, which have the indices n = 0, ..., N - 1.
    periodic
        True to divide by N instead of N - 1, so that the window can be repeated; False
        makes it symmetric.
    beta
        The rate of decay, 0 or more.
    dtype
        The dtype of the result, a floating-point dtype.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Raises
    ------
    ArgumentError
        If `beta` is negative.
    DTypeError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kaiser_window(3, False, beta=0.0)
    tensor([1., 1., 1.])
    """
    where = "kaiser_window"
    if not 0 <= number(where, "beta", beta) < np.inf:
        raise ArgumentError(f"{where}: `beta` is {beta}; it must be finite, 0 or more.")

    def bessel(place: Any) -> Any:
        inside = np.maximum(1 - (2 * place - 1) ** 2, 0)
        return np.i0(beta * np.sqrt(inside)) / np.i0(beta)

    return _window(where, bessel, window_length, periodic, dtype, device, requires_grad)


def _cosines(*factors: float) -> Callable[[Any], Any]:
    """Return a sum of cosines; cosine k has k periods in the window."""

    def wave(place: Any) -> Any:
        return sum(f * np.cos(2 * np.pi * k * place) for k, f in enumerate(factors))

    return wave


def _window(
    where: str,
    shape: Callable[[Any], Any],
    length: Any,
    periodic: Any,
    dtype: Any,
    device: Any,
    requires_grad: Any,
) -> Tensor:
    """Return the values of `shape`, a function of the position from 0 to 1."""
    if device is not None:
        present(device)
    count, kind = count_of(where, length), float_or(dtype)
    if not kind.is_floating_point:
        raise DTypeError(
            f"{where}: `dtype` is {kind.name}; the dtype of a window must be a "
            "floating point dtype."
        )
    values = np.ones(count)
    if count > 1:
        values = shape(np.arange(count) / (count - 1 + periodic))
    array = arrays.empty((count,), kind.numpy)
    array[...] = values
    return finished(where, placed(array, device), None, requires_grad)
