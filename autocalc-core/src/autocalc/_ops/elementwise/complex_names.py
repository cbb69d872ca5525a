# SPDX-License-Identifier: MIT
"""Functions of complex numbers, for tensors whose elements are all real."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.creation.like import ones_like
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import bool_
from autocalc.errors import DTypeError

__all__ = ["imag", "is_conj", "is_neg", "real", "view_as_real"]


def real(input: Tensor) -> Tensor:
    """Return `input` itself, because all tensors are real.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.real(ac.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    return check_tensor("real", input)


def imag(input: Tensor) -> NoReturn:
    """Raise an error, as PyTorch does: real tensors have no imaginary part.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Raises
    ------
    DTypeError
        Always.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.imag(ac.ones(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    autocalc.errors.DTypeError: imag: the tensor is float32, which is real, ...
    """
    raise _not_complex("imag", input)


def view_as_real(input: Tensor) -> NoReturn:
    """Raise an error, because AutoCalc has no complex tensors.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Raises
    ------
    DTypeError
        Always.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.view_as_real(ac.ones(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    autocalc.errors.DTypeError: view_as_real: the tensor is float32, which is real, ...
    """
    raise _not_complex("view_as_real", input)


def _not_complex(where: str, input: Any) -> DTypeError:
    x = check_tensor(where, input)
    return DTypeError(
        f"{where}: the tensor is {x.dtype.name}, which is real, but complex numbers "
        "are needed, and AutoCalc has none. Call is_complex() first."
    )


@method("conj")
def conj(input: Tensor) -> Tensor:
    """Return `input` itself, because all tensors are real.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.conj(ac.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    return check_tensor("conj", input)


@method("conj_physical")
@declared
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return `input` itself, because all tensors are real.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.conj_physical(ac.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    return check_tensor("conj_physical", input)


@method("resolve_conj")
def resolve_conj(input: Tensor) -> Tensor:
    """Return `input` itself, because all tensors are real.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.resolve_conj(ac.ones(1))
    tensor([1.])
    """
    return check_tensor("resolve_conj", input)


@method("resolve_neg")
def resolve_neg(input: Tensor) -> Tensor:
    """Return `input` itself, because no tensor is a negated view.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.resolve_neg(ac.ones(1))
    tensor([1.])
    """
    return check_tensor("resolve_neg", input)


@method("is_conj")
def is_conj(input: Tensor) -> bool:
    """Return False, because no tensor is a conjugate view.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_conj(ac.ones(1))
    False
    """
    check_tensor("is_conj", input)
    return False


@method("is_neg")
def is_neg(input: Tensor) -> bool:
    """Return False, because no tensor is a negated view.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_neg(ac.ones(1))
    False
    """
    check_tensor("is_neg", input)
    return False


@method("isreal")
def isreal(input: Tensor) -> Tensor:
    """Return True for each element, because all tensors are real.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isreal(ac.tensor([1.0, -2.0]))
    tensor([True, True])
    """
    return ones_like(check_tensor("isreal", input), dtype=bool_)


@method("angle")
@declared
@rounded_once
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the angle of each real number: pi for negative ones, 0 for others.

    The angle of NaN is NaN.  The gradient is 0.

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
    """
    x = comparison.float_input("angle", input)
    nothing = arithmetic.abs(arithmetic.mul(arithmetic.sign(x), 0.0))
    turned = arithmetic.add(nothing, math.pi)
    found = comparison.choose(comparison.lt(x, 0), turned, nothing)
    return comparison.choose(comparison.ne(x, x), math.nan, found)
