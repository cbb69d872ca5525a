# SPDX-License-Identifier: MIT
"""The frequencies of a Fourier transform, and their order."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor, integers
from autocalc._ops.arranging import rearranging
from autocalc._ops.creation.constants import finished
from autocalc._ops.creation.ranges import arange
from autocalc._ops.elementwise import arithmetic
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int, number
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Any = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the frequencies of the elements of `fft`, for samples at distance `d`.

    ``[0, 1, ..., (n - 1) // 2, -(n // 2), ..., -1] / (d n)``

    Parameters
    ----------
    n
        The number of points.
    d
        The distance of the samples.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result; by default the default dtype.
    layout
        Accepted so that programs for PyTorch run; it has no effect.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    count = _points("fftfreq", n)
    kind = dtypes.as_dtype(
        dtype or (dtypes.get_default_dtype() if out is None else out.dtype)
    )
    places = arange(count, dtype=kind, device=device)
    middle = (count + 1) // 2
    places[middle:] -= count
    return _spaced("fftfreq", places, count, d, out, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: DType | None = None,
    layout: Any = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return the frequencies of the elements of `rfft`, for samples at distance `d`.

    ``[0, 1, ..., n // 2] / (d n)``

    Parameters
    ----------
    n
        The number of points of the signal.
    d
        The distance of the samples.
    out
        A tensor to write the result into; the result is converted to its dtype.
    dtype
        The dtype of the result; by default the default dtype.
    layout
        Accepted so that programs for PyTorch run; it has no effect.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    count = _points("rfftfreq", n)
    kind = dtypes.as_dtype(
        dtype or (dtypes.get_default_dtype() if out is None else out.dtype)
    )
    places = arange(count // 2 + 1, dtype=kind, device=device)
    return _spaced("rfftfreq", places, count, d, out, requires_grad)


def _points(where: str, n: Any) -> int:
    count = as_int(where, "n", n)
    if count < 1:
        raise ArgumentError(f"{where}: `n` is {count}; it must be 1 or more.")
    return count


def _spaced(
    where: str, places: Tensor, n: int, d: Any, out: Any, requires_grad: Any
) -> Tensor:
    found = arithmetic.mul(places, 1.0 / (n * number(where, "d", d)))
    return finished(where, found._array, out, requires_grad)


def _dims(where: str, x: Tensor, dim: Any) -> tuple[int, ...]:
    if dim is None:
        return tuple(range(x.ndim))
    return tuple(integers(where, "dim", (dim,) if isinstance(dim, int) else dim))


def fftshift(input: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Return `input` with frequency 0 in the middle of each dimension.

    Parameters
    ----------
    input
        A tensor in the order of `fftfreq`.
    dim
        The dimensions that are rearranged; by default all.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.fftshift(ac.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    x = check_tensor("fftshift", input)
    dims = _dims("fftshift", x, dim)
    shifts = tuple(x.shape[d] // 2 for d in dims)
    return rearranging.roll(x, shifts, dims) if dims else x


def ifftshift(input: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Undo `fftshift`: return `input` with frequency 0 at the start.

    Parameters
    ----------
    input
        A tensor with frequency 0 in the middle.
    dim
        The dimensions that are rearranged; by default all.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fft.ifftshift(ac.tensor([-0.5, -0.25, 0.0, 0.25]))
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    x = check_tensor("ifftshift", input)
    dims = _dims("ifftshift", x, dim)
    shifts = tuple(-(x.shape[d] // 2) for d in dims)
    return rearranging.roll(x, shifts, dims) if dims else x
