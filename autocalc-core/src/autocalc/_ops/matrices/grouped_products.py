# SPDX-License-Identifier: MIT
"""Products of matrices in groups of different sizes, contiguous in memory."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import check_tensor, same_dtype
from autocalc._ops.arranging.joining import cat, stack
from autocalc._ops.creation.constants import zeros
from autocalc._ops.matrices import matmul
from autocalc._ops.views.splitting import narrow
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: DType | None = None,
) -> Tensor:
    """Return one matrix product for each group, as in a mixture of experts.

    Group g covers the indices from offs[g - 1] (0 for the first group) to offs[g] - 1
    of one dimension.  If only `mat_b` has a matrix for each group, the groups divide
    the rows of `mat_a`.  If only `mat_a` has a matrix for each group, the groups divide
    the columns of `mat_b`.  If neither has a matrix for each group, the groups divide
    the dimension K, over which the products are summed.

    Parameters
    ----------
    mat_a
        A tensor of shape (M, K), or (G, M, K) with one matrix for each group.
    mat_b
        A tensor of shape (K, N), or (G, K, N) with one matrix for each group.
    offs
        The ends of the groups, a tensor of int32 of shape (G,).  Rows of the result
        after the last end are 0.  `offs` must be None if both operands have three
        dimensions.
    bias
        It must be None.  Add a bias to the result instead.
    out_dtype
        None, or the dtype of `mat_a`.

    Returns
    -------
    Tensor
        A tensor of shape (G, M, N) if both operands have two dimensions, or if both
        have three.  Otherwise, the shape is (M, N).

    Raises
    ------
    ShapeError
        If the shapes of the operands do not fit together, if `offs` is missing, or if
        it is given although both operands have three dimensions.
    ArgumentError
        If the ends of the groups decrease or are out of range, or if a bias is given.
    DTypeError
        If the dtypes of the operands differ, or `offs` is not of int32.

    Examples
    --------
    >>> import autocalc as ac
    >>> rows, experts = ac.ones(5, 2), ac.ones(2, 2, 3) * ac.tensor([[[1.0]], [[2.0]]])
    >>> ends = ac.tensor([1, 5], dtype=ac.int32)
    >>> ac.nn.functional.grouped_mm(rows, experts, offs=ends)[:, 0].tolist()
    [2.0, 4.0, 4.0, 4.0, 4.0]
    """
    where = "grouped_mm"
    check_float(where, mat_a, mat_b)
    same_dtype(where, mat_a, mat_b)
    _check_extras(where, mat_a, bias, out_dtype)
    _check_shapes(where, mat_a, mat_b, offs)
    if offs is None:
        return matmul.bmm(mat_a, mat_b)
    cut_a, cut_b = mat_a.ndim == 2, mat_b.ndim == 2
    length = mat_a.shape[1 if cut_b else 0] if cut_a else mat_b.shape[1]
    spans = _spans(where, offs, length)
    if cut_a and cut_b:
        pairs = (narrow(mat_a, 1, *s) @ narrow(mat_b, 0, *s) for s in spans)
        empty = zeros(
            (0, mat_a.shape[0], mat_b.shape[1]),
            dtype=mat_a.dtype,
            device=place_of_tensor(mat_a),
        )
        return stack(list(pairs)) if spans else empty
    products = [
        narrow(mat_a, 0, *s) @ mat_b[g] if cut_a else mat_a[g] @ narrow(mat_b, 1, *s)
        for g, s in enumerate(spans)
    ]
    rest = length - sum(n for _, n in spans)
    shape = (rest, mat_b.shape[2]) if cut_a else (mat_a.shape[1], rest)
    parts = (
        [*products, zeros(shape, dtype=mat_a.dtype, device=place_of_tensor(mat_a))]
        if rest
        else products
    )
    return cat(
        parts or [zeros(shape, dtype=mat_a.dtype, device=place_of_tensor(mat_a))],
        0 if cut_a else 1,
    )


def _check_extras(where: str, mat_a: Tensor, bias: Any, out_dtype: Any) -> None:
    if bias is not None:
        raise ArgumentError(f"{where}: `bias` is not supported; add it to the result.")
    if out_dtype is not None and dtypes.as_dtype(out_dtype) is not mat_a.dtype:
        raise DTypeError(
            f"{where}: `out_dtype` is {dtypes.as_dtype(out_dtype).name}; it must be "
            f"the dtype of `mat_a`, {mat_a.dtype.name}. Convert the result instead."
        )


def _check_shapes(where: str, mat_a: Tensor, mat_b: Tensor, offs: Any) -> None:
    a, b = mat_a.shape, mat_b.shape
    needs = len(a) == 2 or len(b) == 2
    fits = len(a) in (2, 3) and len(b) in (2, 3) and a[-1] == b[-2]
    if not fits or (not needs and a[0] != b[0]):
        raise ShapeError(
            f"{where}: `mat_a` has shape {a} and `mat_b` has shape {b}; `mat_a` must "
            "be (M, K) or (G, M, K), and `mat_b` (K, N) or (G, K, N)."
        )
    if needs != (offs is not None):
        raise ShapeError(
            f"{where}: `mat_a` has shape {a}, `mat_b` has shape {b}, and `offs` is "
            f"{'left out' if needs else 'given'}; `offs` is needed exactly if one or "
            "both operands are 2-d."
        )
    if offs is None:
        return
    groups = (a if len(a) == 3 else b)[:-2] or check_tensor(where, offs).shape
    if check_tensor(where, offs).ndim != 1 or offs.shape != groups:
        raise ShapeError(
            f"{where}: `offs` has shape {offs.shape}; it must hold one end for each "
            f"group, {groups or '(G,)'}."
        )
    if offs.dtype is not dtypes.int32:
        message = f"{where}: `offs` has dtype {offs.dtype.name}; it must be int32."
        raise DTypeError(message)


def _spans(where: str, offs: Tensor, length: int) -> list[tuple[int, int]]:
    """Return the start and the length of each group."""
    ends = [int(end) for end in offs.tolist()]
    begins = [0, *ends[:-1]]
    spans = [(a, b - a) for a, b in zip(begins, ends, strict=False)]
    if any(n < 0 for _, n in spans) or (ends and ends[-1] > length):
        raise ArgumentError(
            f"{where}: `offs` is {ends}; the ends must not decrease, and must be "
            f"between 0 and {length}."
        )
    return spans
