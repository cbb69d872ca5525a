# SPDX-License-Identifier: MIT
"""Complex tensors from their parts; their angles and directions."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.out import copy_to_out
from autocalc._ops.complex_numbers.parts import imag, real
from autocalc._ops.elementwise import arithmetic, comparison, trigonometric
from autocalc._ops.views import broadcasting
from autocalc._tensor import Tensor
from autocalc.errors import DTypeError

__all__ = ["complex", "polar"]

complex_op = nary("complex")


@complex_op.vjp
def _complex_rule(k: Any, n: Any, g: Any) -> Any:
    return k.copy(k.real_part(g)), k.copy(k.imaginary_part(g))


complex_op.op.complex_rule = _complex_rule


def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the complex numbers real + i imag; shapes broadcast.

    Parameters
    ----------
    real, imag
        The parts, tensors of float32 or float64, both of the same dtype.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If the dtypes differ, or are neither float32 nor float64.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.complex(ac.tensor([1.0, 2.0]), ac.tensor([3.0, -4.0]))
    tensor([1.+3.j, 2.-4.j])
    """
    return _finished("complex", _joined("complex", real, imag), out)


def _finished(where: str, result: Tensor, out: Tensor | None) -> Tensor:
    return result if out is None else copy_to_out(where, result, out)


def _joined(where: str, real: Any, imag: Any) -> Tensor:
    """Return real + i imag of two float tensors of one dtype."""
    x, y = same_dtype(where, real, imag)
    if x.dtype.name not in {"float32", "float64"}:
        raise DTypeError(
            f"{where}: needs float32 or float64 parts, not {x.dtype.name}. Convert "
            "them with .float()."
        )
    return complex_op(*broadcasting.broadcast_tensors(x, y))


def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the complex numbers abs (cos(angle) + i sin(angle)); shapes broadcast.

    Parameters
    ----------
    abs
        The absolute values, a tensor of float32 or float64.
    angle
        The angles in radians, a tensor of the same dtype.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If the dtypes differ, or are neither float32 nor float64.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.polar(ac.tensor([1.0, 2.0]), ac.tensor([0.0, 0.0]))
    tensor([1.+0.j, 2.+0.j])
    """
    size, turn = same_dtype("polar", abs, angle)
    x = arithmetic.mul(size, trigonometric.cos(turn))
    y = arithmetic.mul(size, trigonometric.sin(turn))
    return _finished("polar", _joined("polar", x, y), out)


@method("angle")
@declared
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the angle of each number in radians, from -pi to pi.

    The angle of a negative real number is pi, and that of other real numbers is 0.  The
    angle of NaN is NaN.  The gradient is 0 for real numbers and at 0.

    Parameters
    ----------
    input
        A tensor of any shape; for integers, the result has the default dtype.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.angle(ac.tensor([1.0, -2.0]))
    tensor([0.0000, 3.1416])
    >>> ac.angle(ac.tensor([1.0 + 1.0j]))
    tensor([0.7854])
    """
    x = check_tensor("angle", input)
    return _angle_of_complex(x) if x.is_complex() else _angle_of_real(x)


def _angle_of_complex(z: Tensor) -> Tensor:
    zero = comparison.eq(z, 0)
    safe = comparison.choose(zero, 1.0, z)
    found = trigonometric.atan2(imag(safe), real(safe))
    return comparison.choose(zero, _angle_at_zero(z.detach()), found)


def _angle_at_zero(z: Tensor) -> Tensor:
    return trigonometric.atan2(imag(z), real(z))


@rounded_once
def _angle_of_real(input: Tensor) -> Tensor:
    x = comparison.float_input("angle", input)
    nothing = arithmetic.abs(arithmetic.mul(arithmetic.sign(x), 0.0))
    turned = arithmetic.add(nothing, math.pi)
    found = comparison.choose(comparison.lt(x, 0), turned, nothing)
    return comparison.choose(comparison.ne(x, x), math.nan, found)


@method("sgn", inplace="sgn_")
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return z / abs(z) of complex numbers, and 0 for 0; the sign of real numbers.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sgn(ac.tensor([3.0 + 4.0j, 0.0]))
    tensor([0.6000+0.8000j, 0.0000+0.0000j])
    """
    x = check_tensor("sgn", input)
    result = _direction(x) if x.is_complex() else arithmetic.sign(x)
    return _finished("sgn", result, out)


def _direction(z: Tensor) -> Tensor:
    size = arithmetic.abs(z)
    zero = comparison.eq(size, 0)
    return arithmetic.div(z, comparison.choose(zero, 1.0, size))
