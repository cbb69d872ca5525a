# SPDX-License-Identifier: MIT
"""What all Fourier transforms share: arguments, sizes, factors and kernels."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import axis_of, check_tensor, integers
from autocalc._ops._operator.coerce import cast, to_float
from autocalc._ops.arranging import joining
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import zeros
from autocalc._ops.fourier.kernels import fft_op, irfft_op, rfft_op
from autocalc._ops.views.slicing import slice_op
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, one_of
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError

_NORMS = ("forward", "backward", "ortho")


# ---- arguments -----------------------------------------------------------------------


def _real(where: str, input: Any) -> Tensor:
    """Return a real tensor of float32 or float64; integers become floats."""
    x = check_tensor(where, input)
    if x.is_complex():
        raise DTypeError(
            f"{where}: {where} expects a real input tensor, but got {x.dtype.name}. "
            "Use a transform of complex numbers, or x.real."
        )
    return _checked(where, x)


def _complex(where: str, input: Any) -> Tensor:
    """Return a complex tensor; real ones are converted."""
    x = _checked(where, check_tensor(where, input))
    return x if x.is_complex() else cast(x, x.dtype.to_complex())


def _checked(where: str, x: Tensor) -> Tensor:
    if x.dtype.is_half:
        raise DTypeError(
            f"{where}: Unsupported dtype {x.dtype.name}; transforms take float32, "
            "float64 and complex numbers. Convert it with .float()."
        )
    return x if x.dtype.is_differentiable else to_float(x)


def _scale(norm: str | None, count: int, forward: bool) -> float:
    """Return the factor of a transform of `count` numbers."""
    if norm == "ortho":
        return 1 / math.sqrt(count)
    scaled = "forward" if forward else "backward"
    return 1 / count if (norm or "backward") == scaled else 1.0


def _check_norm(where: str, norm: Any) -> None:
    if norm is not None:
        one_of(where, "norm", norm, _NORMS)


def along(where: str, x: Tensor, dim: Any) -> int:
    if not x.ndim:
        raise ArgumentError(
            f"{where}: Dimension specified as {dim} but tensor has no dimensions; "
            "reshape it to (1,)."
        )
    return axis_of(where, dim, x.ndim)


def count_of(where: str, n: Any, default: int) -> int:
    """Return the number of points, which must be 1 or more."""
    count = default if n is None else as_int(where, "n", n)
    if count < 1:
        raise ArgumentError(
            f"{where}: Invalid number of data points ({count}) specified; there must "
            "be 1 or more."
        )
    return count


def _sized(x: Tensor, axis: int, size: int) -> Tensor:
    """Return `x` cut off after `size` elements along an axis, or filled with zeros."""
    have = x.shape[axis]
    if have == size:
        return x
    if have > size:
        return slice_op(x, (*(slice(None),) * axis, slice(0, size)))
    shape = (*x.shape[:axis], size - have, *x.shape[axis + 1 :])
    more = zeros(shape, dtype=x.dtype, device=place_of_tensor(x))
    return joining.cat_op((x, more), axis)


def _axes(
    where: str, x: Tensor, s: Any, dim: Any, last: int | None = None
) -> tuple[list[int], list[int]]:
    """Return the axes of a transform and the sizes of the signals along them.

    `last` is the default of the last size.
    """
    given = None if s is None else list(integers(where, "s", s))
    if dim is None:
        count = x.ndim if given is None else len(given)
        axes = list(range(x.ndim - count, x.ndim))
        if count > x.ndim:
            raise ArgumentError(
                f"{where}: Got shape with {count} values but input tensor only has "
                f"{x.ndim} dimensions."
            )
    else:
        axes = [along(where, x, d) for d in integers(where, "dim", dim)]
    if len(set(axes)) != len(axes):
        raise ArgumentError(f"{where}: FFT dims must be unique, but `dim` is {dim}.")
    if given is not None and len(given) != len(axes):
        raise ArgumentError(
            f"{where}: When given, dim and shape arguments must have the same length; "
            f"`dim` has {len(axes)} and `s` {len(given)}."
        )
    sizes = [x.shape[axis] for axis in axes]
    if last is not None and sizes:
        sizes[-1] = 2 * (sizes[-1] - 1) if last else sizes[-1]
    for i, n in enumerate(given or ()):
        sizes[i] = sizes[i] if n == -1 else n
    for n in sizes:
        count_of(where, n, n)
    return axes, sizes


# ---- complex to complex --------------------------------------------------------------


def complex_to_complex(
    where: str, input: Any, s: Any, dim: Any, norm: Any, forward: bool
) -> Tensor:
    _check_norm(where, norm)
    x = _complex(where, input)
    axes, sizes = _axes(where, x, s, dim)
    for axis, size in zip(axes, sizes, strict=True):
        x = _sized(x, axis, size)
    if not axes:
        return x
    scale = _scale(norm, math.prod(sizes), forward)
    return fft_op(x, tuple(sorted(axes)), forward, scale)


def real_to_half(
    where: str, input: Any, s: Any, dim: Any, norm: Any, forward: bool
) -> Tensor:
    """Return the first half of the transform of a real signal."""
    _check_norm(where, norm)
    x = _real(where, input)
    axes, sizes = _needed(where, *_axes(where, x, s, dim), dim)
    for axis, size in zip(axes, sizes, strict=True):
        x = _sized(x, axis, size)
    found = rfft_op(x, axes[-1], _scale(norm, math.prod(sizes), forward))
    if not forward:  # the other half: the conjugate
        found = parts.conj(found)
    rest = tuple(sorted(axes[:-1]))
    return fft_op(found, rest, forward, 1.0) if rest else found


def half_to_real(
    where: str, input: Any, s: Any, dim: Any, norm: Any, forward: bool
) -> Tensor:
    """Return the real signal of which the half spectrum is given."""
    _check_norm(where, norm)
    x = _complex(where, input)
    axes, sizes = _needed(where, *_axes(where, x, s, dim, last=1), dim)
    for axis, size in zip(axes[:-1], sizes[:-1], strict=True):
        x = _sized(x, axis, size)
    x = _sized(x, axes[-1], sizes[-1] // 2 + 1)
    rest = tuple(sorted(axes[:-1]))
    x = fft_op(x, rest, forward, 1.0) if rest else x
    if forward:
        x = parts.conj(x)
    return irfft_op(x, axes[-1], sizes[-1], _scale(norm, math.prod(sizes), forward))


def _needed(
    where: str, axes: list[int], sizes: list[int], dim: Any
) -> tuple[list[int], list[int]]:
    if not axes:
        raise ArgumentError(f"{where}: {where} must transform at least one axis.")
    return axes, sizes
