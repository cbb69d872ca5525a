# SPDX-License-Identifier: MIT
"""Fourier transforms along one dimension."""

from __future__ import annotations

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops.fourier._signals import (
    along,
    complex_to_complex,
    count_of,
    half_to_real,
    real_to_half,
)
from autocalc._tensor import Tensor

__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "rfft"]


@declared
def fft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the discrete Fourier transform along one dimension.

    ``X_k = sum_j x_j exp(-2 pi i j k / n)``

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    n
        The number of points: the signal is cut off after them, or filled with zeros.
        By default it is the size of `input`.
    dim
        The dimension along which the transform is taken.
    norm
        "backward" (the default) has no factor, "forward" divides by the number of
        points, and "ortho" by its square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is below 1, or `norm` is not one of these words.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.fft(ac.tensor([1.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return complex_to_complex("fft", *_signal("fft", input, n, dim), norm, True)


@declared
def ifft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the inverse discrete Fourier transform along one dimension.

    ``x_j = sum_k X_k exp(2 pi i j k / n) / n``

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    n
        The number of points: the signal is cut off after them, or filled with zeros.
        By default it is the size of `input`.
    dim
        The dimension along which the transform is taken.
    norm
        "backward" (the default) divides by the number of points, "forward" has no
        factor, and "ortho" divides by the square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is below 1, or `norm` is not one of these words.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.ifft(ac.tensor([4.0, 0.0, 0.0, 0.0]))
    tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
    """
    return complex_to_complex("ifft", *_signal("ifft", input, n, dim), norm, False)


@declared
def rfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the first n // 2 + 1 elements of the transform of a real signal.

    The others are their conjugates.

    Parameters
    ----------
    input
        A tensor of real numbers.
    n
        The number of points: the signal is cut off after them, or filled with zeros.
        By default it is the size of `input`.
    dim
        The dimension along which the transform is taken.
    norm
        "backward" (the default) has no factor, "forward" divides by the number of
        points, and "ortho" by its square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is below 1, or `norm` is not one of these words.
    DTypeError
        If the dtype is float16 or bfloat16; or complex.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.rfft(ac.ones(4))
    tensor([4.+0.j, 0.+0.j, 0.+0.j])
    """
    return real_to_half("rfft", *_signal("rfft", input, n, dim), norm, True)


@declared
def irfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real signal whose `rfft` is given.

    The imaginary part of the first element is ignored, and that of the last for even n.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    n
        The number of points: the signal is cut off after them, or filled with zeros.
        By default it is even: 2 (m - 1) for m elements.
    dim
        The dimension along which the transform is taken.
    norm
        "backward" (the default) divides by the number of points, "forward" has no
        factor, and "ortho" divides by the square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is below 1, or `norm` is not one of these words.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.irfft(ac.tensor([4.0, 0.0, 0.0]))
    tensor([1., 1., 1., 1.])
    """
    return half_to_real("irfft", *_signal("irfft", input, n, dim), norm, False)


@declared
def hfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real transform of a Hermitian signal, given by its first half.

    A signal is Hermitian if x_{n - j} is the conjugate of x_j.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    n
        The number of points: the signal is cut off after them, or filled with zeros.
        By default it is even: 2 (m - 1) for m elements.
    dim
        The dimension along which the transform is taken.
    norm
        "backward" (the default) has no factor, "forward" divides by the number of
        points, and "ortho" by its square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is below 1, or `norm` is not one of these words.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.hfft(ac.tensor([1.0, 0.0, 0.0]))
    tensor([1., 1., 1., 1.])
    """
    return half_to_real("hfft", *_signal("hfft", input, n, dim), norm, True)


@declared
def ihfft(
    input: Tensor,
    n: int | None = None,
    dim: int = -1,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the first half of the inverse transform of a real signal.

    It is the inverse of `hfft`.

    Parameters
    ----------
    input
        A tensor of real numbers.
    n
        The number of points: the signal is cut off after them, or filled with zeros.
        By default it is the size of `input`.
    dim
        The dimension along which the transform is taken.
    norm
        "backward" (the default) divides by the number of points, "forward" has no
        factor, and "ortho" divides by the square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is below 1, or `norm` is not one of these words.
    DTypeError
        If the dtype is float16 or bfloat16; or complex.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.ihfft(ac.ones(4))
    tensor([1.-0.j, 0.-0.j, 0.-0.j])
    """
    return real_to_half("ihfft", *_signal("ihfft", input, n, dim), norm, False)


def _signal(
    where: str, input: Tensor, n: int | None, dim: int
) -> tuple[Tensor, tuple[int] | None, tuple[int]]:
    """Return a tensor, its number of points, and its dimension, as sequences."""
    x = check_tensor(where, input)
    axis = along(where, x, dim)
    return x, None if n is None else (count_of(where, n, 1),), (axis,)
