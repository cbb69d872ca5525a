# SPDX-License-Identifier: MIT
"""Fourier transforms over several dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops._operator.declared import declared
from autocalc._ops.fourier._signals import (
    complex_to_complex,
    half_to_real,
    real_to_half,
)
from autocalc._tensor import Tensor

__all__ = ["fftn", "hfftn", "ifftn", "ihfftn", "irfftn", "rfftn"]


@declared
def fftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the Fourier transform over several dimensions.

    It is `fft` along the last of the dimensions, and `fft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default all, or the last ones if `s` is given.
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
    >>> ac.fft.fftn(ac.ones(4, 6)).shape
    autocalc.Size([4, 6])
    """
    return complex_to_complex("fftn", input, s, dim, norm, True)


@declared
def ifftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the inverse Fourier transform over several dimensions.

    It is `ifft` along the last of the dimensions, and `ifft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default all, or the last ones if `s` is given.
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
    >>> ac.fft.ifftn(ac.ones(4, 6)).shape
    autocalc.Size([4, 6])
    """
    return complex_to_complex("ifftn", input, s, dim, norm, False)


@declared
def rfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return half of the transform of a real signal over several dimensions.

    It is `rfft` along the last of the dimensions, and `fft` along the others.

    Parameters
    ----------
    input
        A tensor of real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default all, or the last ones if `s` is given.
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
    >>> ac.fft.rfftn(ac.ones(4, 6)).shape
    autocalc.Size([4, 4])
    """
    return real_to_half("rfftn", input, s, dim, norm, True)


@declared
def irfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real signal whose half transform is given over several dimensions.

    It is `irfft` along the last of the dimensions, and `ifft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default all, or the last ones if `s` is given.
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
    >>> ac.fft.irfftn(ac.ones(4, 6)).shape
    autocalc.Size([4, 10])
    """
    return half_to_real("irfftn", input, s, dim, norm, False)


@declared
def hfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real transform of a Hermitian signal over several dimensions.

    It is `hfft` along the last of the dimensions, and `fft` along the others.

    Parameters
    ----------
    input
        A tensor of complex or real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default all, or the last ones if `s` is given.
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
    >>> ac.fft.hfftn(ac.ones(4, 6)).shape
    autocalc.Size([4, 10])
    """
    return half_to_real("hfftn", input, s, dim, norm, True)


@declared
def ihfftn(
    input: Tensor,
    s: Sequence[int] | None = None,
    dim: Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return half of the inverse transform over several dimensions.

    It is `ihfft` along the last of the dimensions, and `ifft` along the others.

    Parameters
    ----------
    input
        A tensor of real numbers.
    s
        The number of points along each dimension; -1 keeps the size.  Signals are cut
        off after them, or filled with zeros.
    dim
        The dimensions; by default all, or the last ones if `s` is given.
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
    >>> ac.fft.ihfftn(ac.ones(4, 6)).shape
    autocalc.Size([4, 4])
    """
    return real_to_half("ihfftn", input, s, dim, norm, False)
