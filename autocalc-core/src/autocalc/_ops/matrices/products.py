# SPDX-License-Identifier: MIT
"""Products of vectors and matrices, and sums of products and other tensors."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from autocalc._dispatch.device.device import place_of
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._kernels import rules
from autocalc._kernels.spec import Shape
from autocalc._ops._operator.arguments import axis_of, check_tensor, of_older_order
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import beside, same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.complex_numbers import parts
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices import einsum, matmul
from autocalc._ops.reductions import reduction
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import DimensionError, DTypeError, ShapeError


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


def _blend(
    where: str, input: Tensor, product: Tensor, beta: float, alpha: float
) -> Tensor:
    """Return beta * input + alpha * product; with beta 0, `input` is not read."""
    shape = product._array.shape
    given = check_tensor(where, input)._array.shape
    base = input if given == shape else _spread(where, input, shape)
    scaled, whole = product, not product.is_floating_point()
    if alpha != 1 or (whole and type(alpha) is not int):
        scaled = arithmetic.multiplied(where, product, product, alpha)
    if beta == 0:
        return scaled
    if beta != 1 or (whole and type(beta) is not int):
        base = arithmetic.multiplied(where, product, base, beta, "beta")
    return arithmetic.add_op(base, scaled)


def _spread(where: str, input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return `input` expanded to the shape of the product that is added to it."""
    given = input.shape
    if rules.broadcast_shapes(where, given, shape) != shape:
        raise ShapeError(
            f"{where}: `input` has shape {given}, which does not broadcast to the "
            f"shape of the product, {shape}."
        )
    return broadcasting.expand(input, shape)


def _sum_with(
    where: str, input: Tensor, product: Tensor, beta: float, alpha: float
) -> Tensor:
    """Return the sum of two tensors that must be of one dtype."""
    if input._array.dtype is not product._array.dtype:
        place = place_of(where, input._array, product._array)
        if place is not None and input.dtype is product.dtype:
            input, product = beside(input, place), beside(product, place)
            return _blend(where, input, product, beta, alpha)
        raise DTypeError(
            f"{where}: Input dtypes must be the same, but they are {input.dtype.name} "
            f"and {product.dtype.name}. Convert one of them with .to(...)."
        )
    return _blend(where, input, product, beta, alpha)


@method("addmm", inplace="addmm_")
@autocasts("lower")
@traced
@rounded_once
def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *more: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2).

    Parameters
    ----------
    input
        A tensor that broadcasts to the shape [M, N].
    mat1
        A matrix of shape [M, K].
    mat2
        A matrix of shape [K, N].
    *more
        The last tensors in PyTorch's older order of arguments,
        ``addmm(beta, input, alpha, mat1, mat2)``.
    beta
        The number by which `input` is multiplied.
    alpha
        The number by which the product is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError, DTypeError
        If `input` does not broadcast to the shape of the product, or has another dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.addmm(ac.ones(1), ac.tensor([[1.0, 2.0]]), ac.tensor([[3.0], [4.0]]))
    tensor([[12.]])
    """
    if more:
        return of_older_order(addmm, (input, mat1, mat2, *more), beta, alpha)
    return _sum_with("addmm", input, matmul.mm(mat1, mat2), beta, alpha)


@method("addmv", inplace="addmv_")
@traced(light=True)
@rounded_once
def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *more: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (mat @ vec).

    Parameters
    ----------
    input
        A tensor that broadcasts to the shape [M].
    mat
        A matrix of shape [M, K].
    vec
        A vector of shape [K].
    *more
        The last tensors in PyTorch's older order of arguments,
        ``addmv(beta, input, alpha, mat, vec)``.
    beta
        The number by which `input` is multiplied.
    alpha
        The number by which the product is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError, DTypeError
        If `input` does not broadcast to the shape of the product, or has another dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.addmv(ac.ones(1), ac.tensor([[1.0, 2.0]]), ac.tensor([3.0, 4.0]))
    tensor([12.])
    """
    if more:
        return of_older_order(addmv, (input, mat, vec, *more), beta, alpha)
    return _sum_with("addmv", input, mv(mat, vec), beta, alpha)


@method("addr", inplace="addr_")
@traced
@rounded_once
def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *more: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * outer(vec1, vec2).

    Parameters
    ----------
    input
        A tensor that broadcasts to the shape [M, N].
    vec1
        A vector of shape [M].
    vec2
        A vector of shape [N].
    *more
        The last tensors in PyTorch's older order of arguments,
        ``addr(beta, input, alpha, vec1, vec2)``.
    beta
        The number by which `input` is multiplied.
    alpha
        The number by which the product is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError
        If `input` does not broadcast to the shape of the product.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.addr(ac.ones(1), ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0]))
    tensor([[4., 5.],
            [7., 9.]])
    """
    if more:
        return of_older_order(addr, (input, vec1, vec2, *more), beta, alpha)
    return _blend("addr", input, outer(vec1, vec2), beta, alpha)


@method("baddbmm", inplace="baddbmm_")
@autocasts("lower")
@traced
@rounded_once
def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *more: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (batch1 @ batch2), matrix by matrix.

    Parameters
    ----------
    input
        A tensor that broadcasts to the shape [B, M, N].
    batch1
        A tensor of shape [B, M, K].
    batch2
        A tensor of shape [B, K, N].
    *more
        The last tensors in PyTorch's older order of arguments,
        ``baddbmm(beta, input, alpha, batch1, batch2)``.
    beta
        The number by which `input` is multiplied.
    alpha
        The number by which the products are multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError, DTypeError
        If `input` does not broadcast to the shape of the product, or has another dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.baddbmm(ac.zeros(1), ac.ones(2, 1, 3), ac.ones(2, 3, 1)).shape
    autocalc.Size([2, 1, 1])
    """
    if more:
        return of_older_order(baddbmm, (input, batch1, batch2, *more), beta, alpha)
    return _sum_with("baddbmm", input, matmul.bmm(batch1, batch2), beta, alpha)


@method("addbmm", inplace="addbmm_")
@autocasts("lower")
@traced
@rounded_once
def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *more: Any,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (the sum of all batch1[i] @ batch2[i]).

    Parameters
    ----------
    input
        A tensor that broadcasts to the shape [M, N].
    batch1
        A tensor of shape [B, M, K].
    batch2
        A tensor of shape [B, K, N].
    *more
        The last tensors in PyTorch's older order of arguments,
        ``addbmm(beta, input, alpha, batch1, batch2)``.
    beta
        The number by which `input` is multiplied.
    alpha
        The number by which the products are multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ShapeError, DTypeError
        If `input` does not broadcast to the shape of the product, or has another dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.addbmm(ac.zeros(1), ac.ones(2, 1, 3), ac.ones(2, 3, 1))
    tensor([[6.]])
    """
    if more:
        return of_older_order(addbmm, (input, batch1, batch2, *more), beta, alpha)
    products = matmul.bmm(batch1, batch2)
    product = reduction.sum(products, 0, dtype=products.dtype)
    return _sum_with("addbmm", input, product, beta, alpha)
