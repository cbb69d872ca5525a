# SPDX-License-Identifier: MIT
"""The parts of complex tensors, conjugates, and questions about them."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops.creation.like import ones_like
from autocalc._ops.elementwise import comparison
from autocalc._ops.views import view
from autocalc._ops.views.complex_views import (
    complex_view,
    conj_op,
    imaginary_view,
    pairs_view,
    real_view,
)
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import bool_
from autocalc.errors import DimensionError, DTypeError, ShapeError

__all__ = ["imag", "is_conj", "is_neg", "real", "view_as_complex", "view_as_real"]


def real(input: Tensor) -> Tensor:
    """Return a view of the real parts, or `input` itself if it is real.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.real(ac.tensor([1.0 + 2.0j, -2.0j]))
    tensor([1., -0.])
    """
    x = check_tensor("real", input)
    return real_view(x) if x.is_complex() else x


def imag(input: Tensor) -> Tensor:
    """Return a view of the imaginary parts of a complex tensor.

    Parameters
    ----------
    input
        A complex tensor, of any shape.

    Raises
    ------
    DTypeError
        If the tensor is real: it has no imaginary part.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.imag(ac.tensor([1.0 + 2.0j, -2.0j]))
    tensor([ 2., -2.])
    """
    return imaginary_view(_complex("imag", input))


def view_as_real(input: Tensor) -> Tensor:
    """Return a view of complex numbers as pairs of real and imaginary parts.

    Parameters
    ----------
    input
        A complex tensor of shape ``[...]``; the result has the shape ``[..., 2]``.

    Raises
    ------
    DTypeError
        If the tensor is real.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.view_as_real(ac.tensor([1.0 + 2.0j, 3.0 - 4.0j]))
    tensor([[ 1.,  2.],
            [ 3., -4.]])
    """
    return pairs_view(_complex("view_as_real", input))


def view_as_complex(input: Tensor) -> Tensor:
    """Return a view of pairs of real numbers as complex numbers.

    Parameters
    ----------
    input
        A tensor of float32 or float64 of shape ``[..., 2]``; the result has the shape
        ``[...]``.

    Raises
    ------
    DTypeError
        If the tensor is neither float32 nor float64.
    ShapeError
        If the size of the last dimension is not 2, its stride is not 1, or another
        stride is odd.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.view_as_complex(ac.tensor([[1.0, 2.0], [3.0, -4.0]]))
    tensor([1.+2.j, 3.-4.j])
    """
    x = check_tensor("view_as_complex", input)
    if x.dtype.name not in {"float32", "float64"}:
        raise DTypeError(
            f"view_as_complex: the tensor is {x.dtype.name}; it is only supported for "
            "float32 and float64. Convert it with .float()."
        )
    if not x.ndim or x.shape[-1] != 2:
        raise ShapeError(
            f"view_as_complex: the tensor has shape {tuple(x.shape)}; its last "
            "dimension must be of size 2, for the real and the imaginary part."
        )
    *steps, last = x.stride()
    if x.numel() and (last != 1 or any(step % 2 for step in steps)):
        raise ShapeError(
            f"view_as_complex: the tensor has the strides {x.stride()}; the last must "
            "be 1 and the others divisible by 2. Use contiguous()."
        )
    return complex_view(x)


def _complex(where: str, input: Any) -> Tensor:
    """Return a tensor, which must be complex."""
    x = check_tensor(where, input)
    if not x.is_complex():
        raise DTypeError(
            f"{where}: the tensor is {x.dtype.name}, which is real, but it is only "
            "supported for complex tensors: complex numbers are needed. Call "
            "is_complex() first."
        )
    return x


@method("conj")
def conj(input: Tensor) -> Tensor:
    """Return the conjugate of each complex number, or `input` itself if it is real.

    The result is computed at once, not when its values are first needed.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.conj(ac.tensor([1.0 + 2.0j, -2.0j]))
    tensor([1.-2.j, -0.+2.j])
    """
    x = check_tensor("conj", input)
    return conj_op(x) if x.is_complex() else x


@method("conj_physical")
@declared
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the conjugate of each complex number, or `input` itself if it is real.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.conj_physical(ac.tensor([1.0 + 2.0j]))
    tensor([1.-2.j])
    """
    return conj(check_tensor("conj_physical", input))


@method("resolve_conj")
def resolve_conj(input: Tensor) -> Tensor:
    """Return `input` itself, because conjugates are always computed at once.

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
    """Return whether each element is real: its imaginary part is 0.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isreal(ac.tensor([1.0, 1.0j]))
    tensor([ True, False])
    """
    x = check_tensor("isreal", input)
    if not x.is_complex():
        return ones_like(x, dtype=bool_)
    return comparison.eq(imag(x.detach()), 0)


@method("adjoint")
def adjoint(input: Tensor) -> Tensor:
    """Return the conjugate of each transposed matrix, ``[..., n, m]``.

    Parameters
    ----------
    input
        Matrices ``[..., m, n]``.

    Raises
    ------
    DimensionError
        If `input` has fewer than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.adjoint(ac.tensor([[1.0j, 2.0]]))
    tensor([[0.-1.j],
            [2.-0.j]])
    """
    x = check_tensor("adjoint", input)
    if x.ndim < 2:
        raise DimensionError(
            f"adjoint: only supported on matrices or batches of them, not on shape "
            f"{input.shape}."
        )
    return conj(view.transpose(x, -2, -1))
