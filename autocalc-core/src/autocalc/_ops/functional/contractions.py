# SPDX-License-Identifier: MIT
"""Products of vectors and matrices beyond matmul: each is made of it."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops import elementwise
from autocalc._ops._arguments import Operand, axis_of, check_tensor
from autocalc._ops._out import apply_out
from autocalc._ops.functional.products import bmm, matmul, mm
from autocalc._ops.functional.reductions import sum
from autocalc._ops.functional.shapes import permute, reshape
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, sequence
from autocalc.errors import ArgumentError, ShapeError

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "dot",
    "inner",
    "mv",
    "outer",
    "tensordot",
]


def _dims(where: str, **wanted: tuple[Tensor, int]) -> None:
    """Raise unless each operand has as many dimensions as it must have."""
    if any(check_tensor(where, x).ndim != n for x, n in wanted.values()):
        given = ", ".join(
            f"`{name}` {check_tensor(where, x).shape}"
            for name, (x, _) in wanted.items()
        )
        needed = ", ".join(f"{n}" for _, n in wanted.values())
        message = f"{where}: the shapes are {given}; they must have {needed} dims."
        raise ShapeError(message)


def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the sum of x_i y_i of two vectors."""
    _dims("dot", input=(input, 1), tensor=(tensor, 1))
    return apply_out("dot", matmul(input, tensor), out)


def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of a matrix and a vector."""
    _dims("mv", input=(input, 2), vec=(vec, 1))
    return apply_out("mv", matmul(input, vec), out)


def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return x_i y_j of two vectors, as a matrix."""
    _dims("outer", input=(input, 1), vec2=(vec2, 1))
    column = reshape(input, (*input.shape, 1))
    return apply_out("outer", elementwise.mul(column, vec2), out)


def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the sums of products over the last dimension of both."""
    if check_tensor("inner", input).ndim == 0 or check_tensor("inner", other).ndim == 0:
        return apply_out("inner", elementwise.mul(input, other), out)
    return apply_out("inner", tensordot(input, other, ([-1], [-1])), out)


def _blend(input: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    """Return beta * input + alpha * product; with beta 0 `input` is not looked at."""
    scaled = product if alpha == 1 else elementwise.mul(product, alpha)
    if beta == 0:
        return scaled
    base: Operand = input if beta == 1 else elementwise.mul(input, beta)
    return elementwise.add(base, scaled)


def addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2)."""
    return apply_out(
        "addmm", _blend(check_tensor("addmm", input), mm(mat1, mat2), beta, alpha), out
    )


def addmv(
    input: Tensor,
    mat: Tensor,
    vec: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (mat @ vec)."""
    return apply_out(
        "addmv", _blend(check_tensor("addmv", input), mv(mat, vec), beta, alpha), out
    )


def addr(
    input: Tensor,
    vec1: Tensor,
    vec2: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * outer(vec1, vec2)."""
    return apply_out(
        "addr", _blend(check_tensor("addr", input), outer(vec1, vec2), beta, alpha), out
    )


def baddbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * (batch1 @ batch2), matrix by matrix."""
    return apply_out(
        "baddbmm",
        _blend(check_tensor("baddbmm", input), bmm(batch1, batch2), beta, alpha),
        out,
    )


def addbmm(
    input: Tensor,
    batch1: Tensor,
    batch2: Tensor,
    *,
    beta: float = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
    product = sum(bmm(batch1, batch2), 0)
    return apply_out(
        "addbmm", _blend(check_tensor("addbmm", input), product, beta, alpha), out
    )


def tensordot(
    a: Tensor,
    b: Tensor,
    dims: int | Sequence[Sequence[int]] = 2,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the sums of products over dimensions of `a` and `b`.

    Parameters
    ----------
    dims
        The last `dims` of `a` with the first of `b`; or two lists that name them.

    Raises
    ------
    ArgumentError
        If the lists differ in length, or there are fewer dimensions than `dims`.
    ShapeError
        If the sizes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensordot(ac.ones(2, 3, 4), ac.ones(3, 4, 5)).shape
    (2, 5)
    """
    left, right = _summed_axes(a, b, dims)
    a, b = _shrunk(a, left, b, right), _shrunk(b, right, a, left)
    sizes = [a.shape[i] for i in left], [b.shape[i] for i in right]
    if sizes[0] != sizes[1]:
        message = (
            f"tensordot: of shapes {a.shape} and {b.shape} the dimensions {left} and "
            f"{right} have the sizes {sizes[0]} and {sizes[1]}; they must be equal."
        )
        raise ShapeError(message)
    kept_a = [i for i in range(a.ndim) if i not in left]
    kept_b = [i for i in range(b.ndim) if i not in right]
    inside = 1
    for n in sizes[0]:
        inside *= n
    rows, columns = ([x.shape[i] for i in k] for x, k in ((a, kept_a), (b, kept_b)))
    x = reshape(permute(a, (*kept_a, *left)), (_count(rows), inside))
    y = reshape(permute(b, (*right, *kept_b)), (inside, _count(columns)))
    return apply_out("tensordot", reshape(matmul(x, y), (*rows, *columns)), out)


def _shrunk(x: Tensor, axes: list[int], other: Tensor, others: list[int]) -> Tensor:
    """Sum at once over the dimensions that are of size 1 in the other operand."""
    over = [i for i, j in zip(axes, others, strict=True) if other.shape[j] == 1]
    return sum(x, over, True) if over else x


def _count(sizes: Sequence[int]) -> int:
    result = 1
    for n in sizes:
        result *= n
    return result


def _summed_axes(
    a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]]
) -> tuple[list[int], list[int]]:
    if isinstance(dims, int):
        most = min(check_tensor("tensordot", a).ndim, check_tensor("tensordot", b).ndim)
        if not 0 <= dims <= most:
            message = (
                f"tensordot: `dims`={dims} for shapes {a.shape} and {b.shape}; it must "
                f"lie in 0 to {most}."
            )
            raise ArgumentError(message)
        return list(range(a.ndim - dims, a.ndim)), list(range(dims))
    pair = sequence("tensordot", "dims", dims)
    if len(pair) != 2:
        message = (
            f"tensordot: `dims` holds {len(pair)} entries; give a number, or two lists "
            f"of dimensions."
        )
        raise ArgumentError(message)
    first, second = (integers("tensordot", "dims", one) for one in pair)
    a, b = check_tensor("tensordot", a), check_tensor("tensordot", b)
    if len(first) != len(second):
        message = (
            f"tensordot: `dims` names {len(first)} dimensions of `a` and {len(second)} "
            f"of `b`; they must be as many."
        )
        raise ArgumentError(message)
    left = [axis_of("tensordot", d, a.ndim) for d in first]
    return left, [axis_of("tensordot", d, b.ndim) for d in second]
