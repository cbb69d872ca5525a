# SPDX-License-Identifier: MIT
"""Distances, similarities and unit vectors."""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import is_grad_enabled
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_shape
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging.diagonal import triu_indices
from autocalc._ops.elementwise import arithmetic, clamping, comparison, exponential
from autocalc._ops.indexing import indexing
from autocalc._ops.matrices import matmul, vector_norms
from autocalc._ops.matrices._matrix_rules import mm
from autocalc._ops.reductions import reduction
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, one_of, require
from autocalc.errors import ShapeError


def length(x: Tensor, p: float, dim: int, keepdim: bool) -> Tensor:
    """Return the p-norm along `dim`; where the norm is 0, the gradient is 0."""
    if x._array.ndim == 0:
        return view.reshape(length(view.reshape(x, (1,)), p, dim, True), ())
    return vector_norms.vector_norm(x, p, dim, keepdim)


@traced
@rounded_once(promotes=True)
def cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08, *, axis: Any = None
) -> Tensor:
    """Return ``x1.x2 / (max(|x1|, eps) max(|x2|, eps))``, taken along `dim`.

    Parameters
    ----------
    x1
        The first vectors.
    x2
        The second vectors; shapes are broadcast.
    dim
        The dimension; a negative one counts from the end.
    eps
        The smallest length to divide by.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[1.0, 0.0]]), ac.tensor([[3.0, 4.0]])
    >>> ac.nn.functional.cosine_similarity(x, y)
    tensor([0.6000])
    """
    where = "cosine_similarity"
    shape = check_tensor(where, x1)._array.shape
    if check_tensor(where, x2)._array.shape != shape:
        shape = broadcast_shapes(where, shape, x2.shape)
        x1, x2 = broadcasting.expand(x1, shape), broadcasting.expand(x2, shape)
    a, b = comparison.float_tensors(where, x1, x2)
    a = arithmetic.div_op(a, clamping.clamp(length(a, 2, dim, True), eps))
    b = arithmetic.div_op(b, clamping.clamp(length(b, 2, dim, True), eps))
    product = arithmetic.mul(a, b)
    return reduction.sum(product, dim) if shape else product


@traced
@rounded_once(promotes=True)
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Return the p-norm of x1 - x2 + eps along the last dimension.

    Parameters
    ----------
    x1, x2
        Vectors, tensors of shape [..., D]; shapes are broadcast.
    p
        The order p of the norm.
    eps
        A small number that is added to each difference.
    keepdim
        True to keep the last dimension, with size 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x1, x2 = ac.tensor([[0.0, 0.0]]), ac.tensor([[3.0, 4.0]])
    >>> ac.nn.functional.pairwise_distance(x1, x2, eps=0.0)
    tensor([5.])
    """
    check_tensor("pairwise_distance", x1), check_tensor("pairwise_distance", x2)
    return length(x1 - x2 + eps, p, -1, keepdim)


@traced
@rounded_once
def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    """Return ``input / max(|input|_p, eps)``, with the p-norm taken along `dim`.

    Parameters
    ----------
    input
        The input tensor.
    p
        The order of the norm.
    dim
        The dimension; a negative one counts from the end.
    eps
        The smallest norm to divide by.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.normalize(ac.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    check_float("normalize", input)
    return input / clamping.clamp(length(input, p, dim, True), min=eps)


@method("dist")
@traced
@rounded_once(promotes=True)
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the `p`-norm of the difference of two tensors.

    Parameters
    ----------
    input
        The input tensor.
    other
        The tensor to subtract; shapes are broadcast.
    p
        The order of the norm.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.dist(ac.tensor([0.0, 0.0]), ac.tensor([3.0, 4.0]))
    tensor(5.)
    """
    difference = arithmetic.sub_op(
        check_tensor("dist", input), check_tensor("dist", other)
    )
    return vector_norms.norm(difference, p)


#: The values of `compute_mode` in PyTorch, and the number of rows up to which
#: differences are as fast.
_IF_MANY, _ALWAYS, _NEVER = (
    "use_mm_for_euclid_dist_if_necessary",
    "use_mm_for_euclid_dist",
    "donot_use_mm_for_euclid_dist",
)
_FEW_ROWS = 25


@autocasts("float32")
@traced
@rounded_once
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None
) -> Tensor:
    """Return the `p`-norm distances between all rows of `x1` and all rows of `x2`.

    The result has the shape [..., P, R].

    Parameters
    ----------
    x1
        A tensor of shape [..., P, D].
    x2
        A tensor of shape [..., R, D].
    p
        The order of the norm.
    compute_mode
        How distances with p = 2 are computed.  The form ``sqrt(a.a + b.b - 2 a.b)``
        uses a matrix product; it is faster, but loses digits where rows are close
        together.  ``"use_mm_for_euclid_dist_if_necessary"``, the default, uses this
        form for more than 25 rows, and ``"donot_use_mm_for_euclid_dist"`` never uses
        it.  ``"use_mm_for_euclid_dist"`` always uses it, except for at most 25 rows
        whose gradients are recorded.

    Raises
    ------
    ShapeError
        If the sizes of `x1` and `x2` do not fit.
    ArgumentError
        If `p` is negative, or `compute_mode` is none of the three words above.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cdist(ac.tensor([[0.0, 0.0]]), ac.tensor([[3.0, 4.0], [0.0, 1.0]]))
    tensor([[5., 1.]])
    """
    a, b = same_dtype("cdist", x1, x2)
    check_float("cdist", a)
    shape, sizes = a._array.shape, b._array.shape
    if len(shape) < 2 or len(sizes) < 2 or shape[-1] != sizes[-1]:
        raise ShapeError(
            f"cdist: shapes {a.shape} and {b.shape}; they must be [..., P, M] and "
            f"[..., R, M]."
        )
    require("cdist", "p", p, number("cdist", "p", p) >= 0, "0 or more")
    mode = compute_mode or _IF_MANY
    one_of("cdist", "compute_mode", mode, (_IF_MANY, _ALWAYS, _NEVER))
    many = max(shape[-2], sizes[-2]) > _FEW_ROWS
    if mode == _ALWAYS and not many:
        led = a._edge is not None or b._edge is not None
        many = not (is_grad_enabled() and led)
    if p == 2 and many and mode != _NEVER and sizes[-2]:
        return _by_product(a, b)
    return vector_norms.vector_norm(
        arithmetic.sub_op(view.unsqueeze(a, -2), view.unsqueeze(b, -3)), p, -1
    )


@one_node("cdist", "out a b", like="mul")
@traced
def _by_product(a: Tensor, b: Tensor) -> Tensor:
    """Return Euclidean distances, computed around the mean of b.

    So fewer digits cancel.
    """
    middle = reduction.mean(b, -2, True)
    a, b = arithmetic.sub_op(a, middle), arithmetic.sub_op(b, middle)
    rows, columns = (reduction.sum(arithmetic.mul(x, x), -1, True) for x in (a, b))
    inner = matmul.matmul(a, view.transpose(b, -1, -2))
    lengths = arithmetic.add_op(rows, view.transpose(columns, -1, -2))
    squares = arithmetic.sub_op(lengths, arithmetic.mul(inner, 2.0))
    return exponential.sqrt(clamping.clamp_min(squares, 0.0))


@_by_product.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Pull along the unit vectors of a_i - b_j, but not where the distance is 0."""
    found, a, b = n.saved
    zero = k.constant(0, g)
    pull = k.where(k.compare(found, zero, "eq"), zero, k.div(g, found))
    rows = len(k.shape(b)) - 2
    share = k.constant(1 / k.shape(b)[rows], b)
    middle = k.mul(k.sum(b, (rows,), True), share)  # as in `_by_product`
    a, b = k.sub(a, middle), k.sub(b, middle)
    da = db = None
    if n.needs(0):
        da = k.sum_to(_pulled(k, pull, a, b), n.shapes[0])
    if n.needs(1):
        db = k.sum_to(_pulled(k, matmul.transposed(k, pull), b, a), n.shapes[1])
    return da, db


def _pulled(k: Any, pull: Any, a: Any, b: Any) -> Any:
    """Return the sums over j of pull_ij (a_i - b_j)."""
    total = k.sum(pull, (len(k.shape(pull)) - 1,), True)
    return k.sub(k.mul(a, total), mm(k, pull, b))


@rounded_once
def pdist(input: Tensor, p: float = 2) -> Tensor:
    """Return the distances between all pairs of rows, each pair once.

    These are the elements above the diagonal of ``cdist(input, input)``, in row-major
    order.

    Parameters
    ----------
    input
        A tensor of shape [N, M], float32 or float64.
    p
        The order of the norm, 0 or more.

    Returns
    -------
    Tensor
        A tensor of shape [N (N - 1) / 2].

    Raises
    ------
    ShapeError
        If `input` is not a matrix.
    ArgumentError
        If `p` is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.pdist(ac.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]]))
    tensor([5., 4., 3.])
    """
    check_float("pdist", input)
    check_shape("pdist", "input", input, "[N, M]")
    p = number("pdist", "p", p)
    require("pdist", "p", p, p >= 0, "0 or more")
    first, second = triu_indices(input.shape[0], input.shape[0], 1)
    a, b = (indexing.index_select(input, 0, rows) for rows in (first, second))
    return length(a - b, p, 1, False)
