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
    x = check_tensor("fft", input)
    axis = along("fft", x, dim)
    size = None if n is None else (count_of("fft", n, 1),)
    return complex_to_complex("fft", x, size, (axis,), norm, True)


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
    x = check_tensor("ifft", input)
    axis = along("ifft", x, dim)
    size = None if n is None else (count_of("ifft", n, 1),)
    return complex_to_complex("ifft", x, size, (axis,), norm, False)


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
    x = check_tensor("rfft", input)
    axis = along("rfft", x, dim)
    size = None if n is None else (count_of("rfft", n, 1),)
    return real_to_half("rfft", x, size, (axis,), norm, True)


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
    x = check_tensor("irfft", input)
    axis = along("irfft", x, dim)
    size = None if n is None else (count_of("irfft", n, 1),)
    return half_to_real("irfft", x, size, (axis,), norm, False)


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
    x = check_tensor("hfft", input)
    axis = along("hfft", x, dim)
    size = None if n is None else (count_of("hfft", n, 1),)
    return half_to_real("hfft", x, size, (axis,), norm, True)


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
    x = check_tensor("ihfft", input)
    axis = along("ihfft", x, dim)
    size = None if n is None else (count_of("ihfft", n, 1),)
    return real_to_half("ihfft", x, size, (axis,), norm, False)
