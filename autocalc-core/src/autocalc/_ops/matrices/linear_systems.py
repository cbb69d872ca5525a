# SPDX-License-Identifier: MIT
"""Inverses, solutions, powers and chained products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from operator import index
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_shape
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import eye, zeros
from autocalc._ops.elementwise import comparison
from autocalc._ops.matrices import _matrix_rules, matmul
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import sequence
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.dtypes import bool_
from autocalc.errors import ArgumentError, DTypeError, ShapeError

inv_op = nary("inv", saves="out")


@inv_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For Y = A^-1, return dA = -Y' g Y'."""
    (y,) = n.saved
    turned = matmul.transposed(k, y)
    return k.neg(_matrix_rules.mm(k, turned, g, turned))


@autocasts("float32")
@declared
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of each matrix of `A`, of shape [..., n, n].

    To solve a system of equations, use `solve`, which is faster and more accurate.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If a matrix is singular; the message gives the index of the first one.
    ShapeError, DTypeError
        If `A` does not hold square matrices of a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.inv(ac.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv_op(check_tensor("inv", A))


@method("inverse")
@autocasts("float32")
@declared
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the inverse of each matrix; see `linalg.inv`.

    Parameters
    ----------
    input
        A tensor of shape [..., n, n].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.inverse(ac.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv(input)


solve_op = nary("solve", saves="a out:a")


@solve_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """For A X = B, return dB = A'^-1 g and dA = -dB X', summed over broadcast dims."""
    a, x = n.saved
    db = k.solve(matmul.transposed(k, a), g)
    da = None
    if n.needs(0):
        da = k.sum_to(
            k.neg(_matrix_rules.mm(k, db, matmul.transposed(k, x))), n.shapes[0]
        )
    return da, k.sum_to(db, n.shapes[1]) if n.needs(1) else None


@autocasts("float32")
@declared
def solve(
    A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None
) -> Tensor:
    """Return the solution X of A X = B or, with ``left=False``, of X A = B.

    The leading dimensions are broadcast.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n].
    B
        A tensor of shape [..., n, k]; or vectors, of shape [n] or of shape [..., n]
        with the leading dimensions of `A`.
    left
        True to solve A X = B. False to solve X A = B, where B has the shape [..., k,
        n].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If a matrix is singular; the message gives the index of the first one.
    ShapeError
        If the shapes of the arguments do not fit together.

    Examples
    --------
    >>> import autocalc as ac
    >>> A = ac.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> ac.linalg.solve(A, ac.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    a, b = same_dtype("solve", A, B)
    vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    if vector:
        column = solve_op(a, view.reshape(b, (*b.shape, 1)))
        return view.reshape(column, column.shape[:-1])
    if left:
        return solve_op(a, b)
    return _turned(solve_op(_turned(a), _turned(b)))


def _turned(x: Tensor) -> Tensor:
    return view.transpose(x, -1, -2) if x.ndim > 1 else x


@method("matrix_power")
@declared
@rounded_once
def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """Return the `n`-th power of each matrix; it uses the inverse if `n` is negative.

    It takes about 2 log2(n) matrix products.

    Parameters
    ----------
    input
        The input tensor.
    n
        The exponent; a negative one inverts the matrix first.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    LinAlgError
        If `n` is negative and a matrix is singular.
    ShapeError
        If the matrices are not square.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.matrix_power(ac.tensor([[2.0, 0.0], [0.0, 3.0]]), 3)
    tensor([[ 8.,  0.],
            [ 0., 27.]])
    """
    x = check_tensor("matrix_power", input)
    check_shape("matrix_power", "input", x, "square matrices [..., n, n]")
    try:
        n = index(n)
    except TypeError:
        message = f"matrix_power: `n`={n!r} is a {type(n).__name__}; give an integer."
        raise ArgumentError(message) from None
    if n < 0:
        return matrix_power(inv(x), -n)
    if n == 0:  # gives it a history, like other powers
        identity = broadcasting.expand(
            eye(x.shape[-1], dtype=x.dtype, device=place_of_tensor(x)), x.shape
        )
        return comparison.where_op(zeros(1, dtype=bool_), x, identity)
    if n == 1:
        return view.clone(x)
    half = matrix_power(x, n // 2) if n > 3 else x
    square = matmul.matmul(half, half)
    return matmul.matmul(square, x) if n % 2 else square


@autocasts("lower")
@traced
@rounded_once
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Return the product of two or more matrices, computed in the cheapest order.

    The first tensor may be a vector, which counts as a matrix of one row.  The last
    tensor may be a vector, which counts as a matrix of one column.  The result does not
    have the dimension of this row or column.

    Parameters
    ----------
    tensors
        The tensors, a list or a tuple.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If there are fewer than two tensors.
    ShapeError
        If a tensor between the first and the last is not a matrix, or the sizes of two
        neighbours do not fit.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.multi_dot([ac.ones(10, 2), ac.ones(2, 30), ac.ones(30)]).shape
    autocalc.Size([10])
    """
    given = [
        check_tensor("multi_dot", x) for x in sequence("multi_dot", "tensors", tensors)
    ]
    if len(given) < 2:
        raise ArgumentError(
            f"multi_dot: {len(given)} tensors; expected at least 2 tensors."
        )
    for end, x in (("first", given[0]), ("last", given[-1])):
        if x.ndim not in (1, 2):
            raise ShapeError(
                f"multi_dot: the {end} tensor must be 1D or 2D, not of shape {x.shape}."
            )
    if len({x.dtype for x in given}) > 1:
        kinds = ", ".join(x.dtype.name for x in given)
        raise DTypeError(
            f"multi_dot: all tensors must have be the same dtype, not {kinds}."
        )
    row, column = given[0].ndim == 1, given[-1].ndim == 1
    parts = [*given]
    parts[0] = view.reshape(parts[0], (1, *parts[0].shape)) if row else parts[0]
    parts[-1] = view.reshape(parts[-1], (*parts[-1].shape, 1)) if column else parts[-1]
    _check_chain(given, parts)
    sizes = [*(x.shape[0] for x in parts), parts[-1].shape[1]]
    found = _product(parts, _cheapest(sizes))
    found = view.reshape(found, found.shape[:-1]) if column else found
    found = view.reshape(found, found.shape[1:]) if row else found
    return view.detach_from_base(found)


@declared
@rounded_once
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of matrices, computed in the cheapest order.

    Parameters
    ----------
    *matrices
        The matrices, as separate arguments.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If there is no matrix.
    ShapeError
        If a tensor is not a matrix, or the shapes do not fit each other.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.chain_matmul(ac.ones(1, 2), ac.ones(2, 3), ac.ones(3, 1))
    tensor([[6.]])
    """
    if not matrices:
        raise ArgumentError("chain_matmul(): Expected one or more matrices, not none.")
    for x in matrices:
        if check_tensor("chain_matmul", x).ndim != 2:
            raise ShapeError(
                f"chain_matmul(): Tensor dimension is {x.ndim}, expected 2 instead; "
                f"the shape is {x.shape}."
            )
    if len(matrices) == 1:
        _check_chain([check_tensor("chain_matmul", matrices[0])], [*matrices])
        return matrices[0]
    return multi_dot(list(matrices))


def _check_chain(given: list[Tensor], parts: list[Tensor]) -> None:
    for i, x in enumerate(parts):
        if x.ndim != 2:
            raise ShapeError(
                f"multi_dot: tensor {i} must be 2D but got {x.ndim}D; only the "
                "first and the last may be vectors."
            )
    if any(a.shape[1] != b.shape[0] for a, b in pairwise(parts)):
        shapes = ", ".join(str(x._array.shape) for x in given)
        raise ShapeError(
            f"multi_dot: the shapes {shapes} cannot be multiplied; the columns of each "
            "matrix must equal the rows of the next."
        )


def _cheapest(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Return where to split each run (first, last) of a chain of matrices.

    Matrix i has the shape sizes[i] by sizes[i + 1]; the cost is the number of
    multiplications.
    """
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            choices = [
                cost[i, s] + cost[s + 1, j] + sizes[i] * sizes[s + 1] * sizes[j + 1]
                for s in range(i, j)
            ]
            cost[i, j] = min(choices)
            split[i, j] = i + choices.index(cost[i, j])
    return split


def _product(parts: list[Tensor], split: dict[tuple[int, int], int]) -> Tensor:
    def between(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        s = split[i, j]
        return matmul.matmul(between(i, s), between(s + 1, j))

    return between(0, len(parts) - 1)
