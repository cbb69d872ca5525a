# SPDX-License-Identifier: MIT
"""Products of vectors and matrices, and sums of products and other tensors."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._kernels import rules
from autocalc._kernels.spec import Shape
from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.complex_numbers import parts
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices import einsum, matmul
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import DimensionError, ShapeError


@method("dot")
@traced(light=True)
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the dot product of two vectors, the sum of x_i y_i.

    Parameters
    ----------
    input
        A vector of shape [n].
    tensor
        A vector of shape [n].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.dot(ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0]))
    tensor(11.)
    """
    result = matmul.times_vector(input, tensor, (1,))
    if result is None:
        matmul.check_vectors(input, tensor)
        result = matmul.matmul(input, tensor)
    return result


@method("mv")
@traced(light=True)
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of a matrix and a vector.

    Parameters
    ----------
    input
        A matrix of shape [M, K].
    vec
        A vector of shape [K].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.mv(ac.tensor([[1.0, 2.0], [3.0, 4.0]]), ac.tensor([1.0, 1.0]))
    tensor([3., 7.])
    """
    result = matmul.times_vector(input, vec, (2,))
    if result is None:
        einsum._dims("mv", input=(input, 2), vec=(vec, 1))
        result = matmul.matmul(input, vec)
    return result


@method("outer ger")
@traced(light=True)
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the outer product of two vectors, the matrix of all x_i y_j.

    Parameters
    ----------
    input
        A vector of shape [M].
    vec2
        A vector of shape [N].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.outer(ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    einsum._dims("outer", input=(input, 1), vec2=(vec2, 1))
    column = view.reshape(input, (*input.shape, 1))
    return arithmetic.mul(column, vec2)


@method("inner")
@traced
@rounded_once
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the sums of products over the last dimension of both tensors.

    Parameters
    ----------
    input
        A tensor of shape [..., K].
    other
        A tensor of shape [..., K].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.inner(ac.tensor([[1.0, 2.0]]), ac.tensor([[3.0, 4.0]]))
    tensor([[11.]])
    """
    check_tensor("inner", input), check_tensor("inner", other)
    if 0 in (input.ndim, other.ndim):
        return arithmetic.mul(input, other)
    matmul.check_last(input, other)
    return einsum.tensordot(input, other, ([-1], [-1]))


@method("vdot")
@declared
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the dot product of two vectors, the sum of x_i y_i.

    Parameters
    ----------
    input
        A vector of shape [n].
    other
        A vector of shape [n].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.vdot(ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0]))
    tensor(11.)
    """
    return dot(parts.conj(check_tensor("vdot", input)), other)


def _vector_product(k: Any, a: Any, b: Any, axis: int) -> Any:
    """Return a_1 b_2 - a_2 b_1 and so on, in kernels."""

    def turned(x: Any, by: int) -> Any:
        places = arrays.near(x._array if k.records else x, _places_from(by))
        return k.index_select(x, make(places, None) if k.records else places, axis)

    left, right = k.mul(turned(a, 1), turned(b, 2)), k.mul(turned(a, 2), turned(b, 1))
    return k.sub(left, right)


@lru_cache(2)
def _places_from(first: int) -> Any:
    """Return an array of the three places of a vector, starting with the given one."""
    return arrays.frozen(arrays.cat([_three()[first:], _three()[:first]], 0))


def _three() -> Any:
    return arrays.arange(3, constant(0, dtypes.int64.numpy))


@one_node("cross", "a:b b:a", like="mul")
def _cross(a: Tensor, b: Tensor, axis: int) -> Tensor:
    return make(_vector_product(arrays, a._array, b._array, axis), None)


@_cross.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, b = n.saved
    da = db = None
    if n.needs(0):
        da = k.sum_to(_vector_product(k, b, g, *n.attributes), n.shapes[0])
    if n.needs(1):
        db = k.sum_to(_vector_product(k, g, a, *n.attributes), n.shapes[1])
    return da, db


@method("cross")
@traced
@rounded_once
def cross(
    input: Tensor,
    other: Tensor,
    dim: int | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the cross products of 3-vectors along `dim`.

    By default `dim` is the first dimension of size 3.

    Parameters
    ----------
    input
        The input tensor.
    other
        The second operand, a tensor.
    dim
        The dimension of size 3; by default the first one of this size.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    DimensionError
        If no dimension has size 3.
    ShapeError
        If the size of `dim` is not 3, or the numbers of dimensions differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cross(ac.tensor([1.0, 0.0, 0.0]), ac.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    a, b = same_dtype("cross", input, other)
    shape = rules.broadcast_shapes("cross", a.shape, b.shape)
    if dim is None:
        found = [i for i, n in enumerate(a.shape) if n == 3]
        if not found:
            raise DimensionError(f"cross: no dimension of shape {a.shape} has size 3.")
        axis = found[0]
    else:
        axis = axis_of("cross", dim, len(shape))
    if a.ndim != b.ndim or not shape or a.shape[axis] != 3 or b.shape[axis] != 3:
        raise ShapeError(
            f"cross: the shapes are {a.shape} and {b.shape}; they must have equally "
            f"many dimensions, and size 3 along dimension {axis}."
        )
    return _cross(a, b, axis)


@method("kron")
@traced(light=True)
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the Kronecker product: each element of `input` times all of `other`.

    Parameters
    ----------
    input
        The input tensor.
    other
        The second operand, a tensor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.kron(ac.tensor([1, 2]), ac.tensor([1, 10]))
    tensor([ 1, 10,  2, 20])
    """
    a, b = check_tensor("kron", input), check_tensor("kron", other)
    wide, narrow, shape = _kron_shapes(a._array.shape, b._array.shape)
    if len(shape) > 1 and narrow[-1] < _SHORT and math.prod(shape) >= _LARGE:
        wide, narrow, a, b = _in_lines(wide, narrow, a, b)
    product = arithmetic.mul(view.reshape_op(a, wide), view.reshape_op(b, narrow))
    return view.detach_from_base(view.reshape_op(product, shape))


#: Products of at least the second number of elements, with rows shorter than the first,
#: repeat the elements.
_SHORT, _LARGE = 64, 8192


def _in_lines(
    wide: Shape, narrow: Shape, a: Tensor, b: Tensor
) -> tuple[Shape, Shape, Tensor, Tensor]:
    """Return factors expanded to the last dimension of the product.

    Kernels run along that dimension.  With rows of 4 elements, 316 x 316 by 4 x 4 took
    4,800 us; with lines it took 400 us.
    """
    n, m = wide[-2], narrow[-1]
    a = broadcasting.expand(view.reshape_op(a, wide), (*wide[:-1], m))
    b = broadcasting.expand(view.reshape_op(b, narrow), (*narrow[:-2], n, m))
    return (*wide[:-2], n * m), (*narrow[:-2], n * m), a, b


@lru_cache(1024)
def _kron_shapes(a: Shape, b: Shape) -> tuple[Shape, Shape, Shape]:
    """Return the shapes in which both factors broadcast, and that of the product."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    wide = tuple(n for size in a for n in (size, 1))
    narrow = tuple(n for size in b for n in (1, size))
    return wide, narrow, tuple(n * m for n, m in zip(a, b, strict=True))
