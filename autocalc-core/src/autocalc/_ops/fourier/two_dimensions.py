# SPDX-License-Identifier: MIT
"""Fourier transforms over two dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops._operator.declared import declared
from autocalc._ops.fourier._signals import (
    complex_to_complex,
    half_to_real,
    real_to_half,
)
from autocalc._tensor import Tensor

__all__ = ["fft2", "hfft2", "ifft2", "ihfft2", "irfft2", "rfft2"]

_LAST_TWO = (-2, -1)


@declared
def fft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = _LAST_TWO,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the Fourier transform over two dimensions.

    It is `fft` along the last of the dimensions, and `fft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default the last two.
    norm
        "backward" (the default) has no factor, "forward" divides by the number of
        points, and "ortho" by its square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a dimension is repeated, or the lengths of `s` and `dim` differ.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.fft2(ac.ones(4, 6)).shape
    autocalc.Size([4, 6])
    """
    return complex_to_complex("fft2", input, s, dim, norm, True)


@declared
def ifft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = _LAST_TWO,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the inverse Fourier transform over two dimensions.

    It is `ifft` along the last of the dimensions, and `ifft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default the last two.
    norm
        "backward" (the default) divides by the number of points, "forward" has no
        factor, and "ortho" divides by the square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a dimension is repeated, or the lengths of `s` and `dim` differ.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.ifft2(ac.ones(4, 6)).shape
    autocalc.Size([4, 6])
    """
    return complex_to_complex("ifft2", input, s, dim, norm, False)


@declared
def rfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = _LAST_TWO,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return half of the transform of a real signal over two dimensions.

    It is `rfft` along the last of the dimensions, and `fft` along the others.

    Parameters
    ----------
    input
        A tensor of real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default the last two.
    norm
        "backward" (the default) has no factor, "forward" divides by the number of
        points, and "ortho" by its square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a dimension is repeated, or the lengths of `s` and `dim` differ.
    DTypeError
        If the dtype is float16 or bfloat16; or complex.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.rfft2(ac.ones(4, 6)).shape
    autocalc.Size([4, 4])
    """
    return real_to_half("rfft2", input, s, dim, norm, True)


@declared
def irfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = _LAST_TWO,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real signal whose half transform is given over two dimensions.

    It is `irfft` along the last of the dimensions, and `ifft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default the last two.
    norm
        "backward" (the default) divides by the number of points, "forward" has no
        factor, and "ortho" divides by the square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a dimension is repeated, or the lengths of `s` and `dim` differ.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.irfft2(ac.ones(4, 6)).shape
    autocalc.Size([4, 10])
    """
    return half_to_real("irfft2", input, s, dim, norm, False)


@declared
def hfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = _LAST_TWO,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real transform of a Hermitian signal over two dimensions.

    It is `hfft` along the last of the dimensions, and `fft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default the last two.
    norm
        "backward" (the default) has no factor, "forward" divides by the number of
        points, and "ortho" by its square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a dimension is repeated, or the lengths of `s` and `dim` differ.
    DTypeError
        If the dtype is float16 or bfloat16.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.hfft2(ac.ones(4, 6)).shape
    autocalc.Size([4, 10])
    """
    return half_to_real("hfft2", input, s, dim, norm, True)


@declared
def ihfft2(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] = _LAST_TWO,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return half of the inverse transform of a real signal over two dimensions.

    It is `ihfft` along the last of the dimensions, and `ifft` along the others.

    Parameters
    ----------
    input
        A tensor of real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default the last two.
    norm
        "backward" (the default) divides by the number of points, "forward" has no
        factor, and "ortho" divides by the square root.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a dimension is repeated, or the lengths of `s` and `dim` differ.
    DTypeError
        If the dtype is float16 or bfloat16; or complex.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.ihfft2(ac.ones(4, 6)).shape
    autocalc.Size([4, 4])
    """
    return real_to_half("ihfft2", input, s, dim, norm, False)
