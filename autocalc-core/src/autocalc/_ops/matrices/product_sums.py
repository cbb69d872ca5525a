# SPDX-License-Identifier: MIT
"""Sums of products of matrices or vectors and other tensors."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import place_of
from autocalc._kernels import rules
from autocalc._ops._operator.arguments import check_tensor, of_older_order
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import beside
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.matrices import matmul, products
from autocalc._ops.reductions import reduction
from autocalc._ops.views import broadcasting
from autocalc._tensor import Tensor
from autocalc.errors import DTypeError, ShapeError


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
    return _sum_with("addmv", input, products.mv(mat, vec), beta, alpha)


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
    return _blend("addr", input, products.outer(vec1, vec2), beta, alpha)


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
    batch = matmul.bmm(batch1, batch2)
    product = reduction.sum(batch, 0, dtype=batch.dtype)
    return _sum_with("addbmm", input, product, beta, alpha)
