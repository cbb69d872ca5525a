# SPDX-License-Identifier: MIT
"""Sums over dimensions, and softmax over the entries of sparse tensors."""

from __future__ import annotations

from typing import Any

from autocalc._ops.arranging.joining import cat
from autocalc._ops.sequences.searching import unique
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import integers
from autocalc._tensor.dtypes import DType
from autocalc.errors import DimensionError, DTypeError, ShapeError
from autocalc.sparse._arithmetic import coordinates_of
from autocalc.sparse._conversion import as_layout
from autocalc.sparse._coo import CooTensor, index_of
from autocalc.sparse._tensor import SparseTensor, function


@function("sum")
def sum_of(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return the sum over dimensions; sparse dimensions that stay keep it sparse."""
    if dtype is not None:
        x = x.to(dtype)
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        if isinstance(x, CooTensor) and x.dtype is dtypes.bool_:
            x = x.coalesce()
        total = x._vals.sum()
        return total.reshape((1,) * x.ndim) if keepdim else total
    axes = sorted({x._positive_dim("sum", d) for d in integers("sum", "dim", dim)})
    coo = coordinates_of(x)
    n = coo.sparse_dim()
    dense = [d - n + 1 for d in axes if d >= n]
    values = coo._vals.sum(dense, keepdim) if dense else coo._vals
    kept = [d for d in range(n) if d not in axes]
    if len(kept) == n:
        shape = (*coo.shape[:n], *values.shape[1:])
        return CooTensor(coo._idx, values, shape, coo.is_coalesced())
    if not kept and not keepdim:
        return values.sum(0)
    made = _without(coo, values, axes, kept, keepdim)
    if isinstance(x, CooTensor) or made.sparse_dim() != 2:
        return made
    return as_layout(made, x.layout)


def _without(coo: Any, values: Tensor, axes: Any, kept: Any, keepdim: bool) -> Any:
    """Return a tensor without the sparse dimensions that are summed."""
    n = coo.sparse_dim()
    if keepdim:
        rows = [coo._idx[d] * (0 if d in axes else 1) for d in range(n)]
        indices = cat([row.reshape(1, -1) for row in rows])
        sizes = [1 if d in axes else coo.shape[d] for d in range(n)]
    else:
        indices = coo._idx.index_select(0, index_of(kept))
        sizes = [coo.shape[d] for d in kept]
    return CooTensor(indices, values, (*sizes, *values.shape[1:])).coalesce()


def _groups(x: CooTensor, axis: int) -> tuple[Tensor, int]:
    """Return the group of each entry: those that differ in dimension `axis` only."""
    others = [d for d in range(x.sparse_dim()) if d != axis]
    if not others:
        return x._idx[axis] * 0, 1
    sizes = [x.shape[d] for d in others]
    indices = x._idx.index_select(0, index_of(others))
    key = CooTensor(indices, x._vals, (*sizes, *x._vals.shape[1:]))._key()
    found, inverse = unique(key, return_inverse=True)
    return inverse, int(found.shape[0])


def _softmax_of(where: str, input: Any, dim: int, dtype: Any, log: bool) -> Any:
    if not isinstance(input, SparseTensor):
        message = f"{where}: `input` is dense; use ac.softmax for dense tensors."
        raise DTypeError(message)
    x: Any = coordinates_of(input).coalesce()
    if dtype is not None:
        x = x.to(dtype)
    axis = x._positive_dim(where, dim)
    n = x.sparse_dim()
    if axis >= n:
        method = Tensor.log_softmax if log else Tensor.softmax
        values = method(x._vals, axis - n + 1)
    else:
        values = _over_entries(x._vals, *_groups(x, axis), log)
    made = x._with(values)
    return made if isinstance(input, CooTensor) else as_layout(made, input.layout)


def _over_entries(values: Tensor, group: Tensor, count: int, log: bool) -> Tensor:
    """Return the softmax over the entries of each group."""
    rest = values.shape[1:]
    most = values.detach().new_zeros((count, *rest))
    most = most.index_reduce(0, group, values.detach(), "amax", include_self=False)
    shifted = values - most.index_select(0, group)
    powers = shifted.exp()
    total = values.new_zeros((count, *rest)).index_add(0, group, powers)
    if log:
        return shifted - total.log().index_select(0, group)
    return powers / total.index_select(0, group)


def softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Return the softmax over the entries along a dimension.

    Elements that are not entries count as minus infinity: their softmax is 0, and the
    result has the same entries as the input.

    Parameters
    ----------
    input
        A sparse tensor.
    dim
        The dimension; a negative one counts from the end.
    dtype
        The dtype in which the softmax is computed and returned.

    Returns
    -------
    Tensor
        A sparse tensor with the shape and the entries of `input`.

    Raises
    ------
    DTypeError
        If `input` is dense.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.sparse_coo_tensor([[0, 0, 1], [0, 2, 1]], [1.0, 1.0, 5.0], (2, 3))
    >>> ac.sparse.softmax(x, 1).to_dense()
    tensor([[0.5000, 0.0000, 0.5000],
            [0.0000, 1.0000, 0.0000]])
    """
    return _softmax_of("sparse.softmax", input, dim, dtype, log=False)  # type: ignore[no-any-return]  # sparse


def log_softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Return the logarithm of `softmax` over the entries along a dimension.

    Parameters
    ----------
    input
        A sparse tensor.
    dim
        The dimension; a negative one counts from the end.
    dtype
        The dtype in which the result is computed and returned.

    Returns
    -------
    Tensor
        A sparse tensor with the shape and the entries of `input`.

    Raises
    ------
    DTypeError
        If `input` is dense.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.sparse_coo_tensor([[0, 0], [0, 2]], [1.0, 1.0], (1, 3))
    >>> ac.sparse.log_softmax(x, 1).values()
    tensor([-0.6931, -0.6931])
    """
    return _softmax_of("sparse.log_softmax", input, dim, dtype, log=True)  # type: ignore[no-any-return]  # sparse


@function("cat", "concat", "concatenate")
def concatenated(tensors: Any, dim: int = 0) -> Any:
    """Return sparse tensors joined along a dimension."""
    if not all(isinstance(x, CooTensor) for x in tensors):
        raise DTypeError(
            "cat: sparse and dense tensors, or compressed matrices, cannot be joined; "
            "concatenating sparse tensors needs all of them in the layout sparse_coo."
        )
    first = tensors[0]
    axis, n = first._positive_dim("cat", dim), first.sparse_dim()
    _check_alike(tensors, axis)
    if axis >= n:
        return _joined_dense(tensors, axis - n + 1)
    parts, start = [], 0
    for x in tensors:
        shift = index_of([start if d == axis else 0 for d in range(n)])
        parts.append(x._idx + shift.reshape(-1, 1))
        start += x.shape[axis]
    shape = [start if d == axis else size for d, size in enumerate(first.shape)]
    same = axis == 0 and all(x.is_coalesced() for x in tensors)
    return CooTensor(cat(parts, 1), cat([x._vals for x in tensors]), shape, same)


def _check_alike(tensors: Any, axis: int) -> None:
    first = tensors[0]
    for i, x in enumerate(tensors):
        if x.sparse_dim() != first.sparse_dim() or x.ndim != first.ndim:
            raise ShapeError(
                f"cat: all tensors must have the same sparse_dim and dense_dim: "
                f"{first.sparse_dim(), first.dense_dim()}, but tensor {i} has "
                f"{x.sparse_dim(), x.dense_dim()}."
            )
        pairs = enumerate(zip(x.shape, first.shape, strict=True))
        if any(a != b for d, (a, b) in pairs if d != axis):
            raise ShapeError(
                f"cat: all tensors must have the same sizes but in dimension {axis}; "
                f"tensor {i} has shape {tuple(x.shape)}, the first "
                f"{tuple(first.shape)}."
            )


def _joined_dense(tensors: Any, axis: int) -> Any:
    """Return tensors joined along a dense dimension: zeros fill the other parts."""
    total = sum(x._vals.shape[axis] for x in tensors)
    parts, start = [], 0
    for x in tensors:
        values = x._vals
        before, after = list(values.shape), list(values.shape)
        before[axis], after[axis] = start, total - start - values.shape[axis]
        start += values.shape[axis]
        padded = [values.new_zeros(before), values, values.new_zeros(after)]
        parts.append(cat(padded, axis))
    first = tensors[0]
    shape = list(first.shape)
    shape[first.sparse_dim() + axis - 1] = total
    return CooTensor(cat([x._idx for x in tensors], 1), cat(parts), shape)


@function("index_select")
def index_select(x: Any, dim: int, index: Tensor) -> Any:
    """Return the slices of a sparse tensor at `index`."""
    coo = coordinates_of(x).coalesce()
    axis, n = coo._positive_dim("index_select", dim), coo.sparse_dim()
    index = index.to(dtypes.int64).reshape(-1)
    size = coo.shape[axis]
    if index.numel() and (int(index.min()) < -size or int(index.max()) >= size):
        raise DimensionError(
            f"index_select: an index is out of range for dimension {axis} of size "
            f"{size}."
        )
    index = index.where(index >= 0, index + size)
    shape = list(coo.shape)
    shape[axis] = index.shape[0]
    if axis >= n:
        values = coo._vals.index_select(axis - n + 1, index)
        return CooTensor(coo._idx, values, shape, True)
    which, at = _matches(coo._idx[axis], index, size)
    rows = [at if d == axis else coo._idx[d].index_select(0, which) for d in range(n)]
    indices = cat([row.reshape(1, -1) for row in rows])
    return CooTensor(indices, coo._vals.index_select(0, which), shape)


def _matches(own: Tensor, index: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Return each entry and the place in `index` that selects it, as pairs."""
    from autocalc._ops.arranging.rearranging import repeat_interleave
    from autocalc.sparse._compressed import starts_of
    from autocalc.sparse._coo import arange_of

    order = own.argsort(stable=True)
    starts = starts_of(own, size)
    begin = starts.index_select(0, index)
    counts = starts.index_select(0, index + 1) - begin
    at = repeat_interleave(arange_of(index.shape[0]), counts)
    before = (counts.cumsum(0) - counts).index_select(0, at)
    place = arange_of(at.shape[0]) - before + begin.index_select(0, at)
    return order.index_select(0, place), at


@function("select")
def select(x: Any, dim: int, index: int) -> Any:
    """Return one slice of a sparse tensor, without that dimension."""
    axis = x._positive_dim("select", dim)
    size = x.shape[axis]
    if not -size <= index < size:
        raise DimensionError(
            f"select: index {index} is out of range for dimension {axis} of size "
            f"{size}."
        )
    one = index_select(x, axis, index_of([index % size]))
    return sum_of(one, axis)
