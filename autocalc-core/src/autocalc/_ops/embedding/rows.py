# SPDX-License-Identifier: MIT
"""Rows of a table selected by index, and indices as rows of ones and zeros."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current, refuse_reading
from autocalc._graph._grad_mode import no_grad
from autocalc._graph._node import Leaf, Node
from autocalc._kernels.indexing.ranges import with_range
from autocalc._ops._operator.arguments import as_int, check_tensor
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.factories import operator
from autocalc._ops._operator.kinds import rows
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.traced import traced
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.matrices import vector_norms
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import plain
from autocalc.errors import ArgumentError, DTypeError, KernelIndexError, ShapeError

_op = Op("embedding", "indices:weight")


def _embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    by_frequency: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return ``weight[indices]``; row `padding_idx`, if not -1, gets no gradient.

    Only the backward rule uses the padding row, the flag that divides gradients by the
    frequency of their row, and the flag for sparse gradients.  They are attributes of
    the node that the forward kernel does not take.
    """
    a, index = weight._array, indices._array
    out = arrays.embedding(a, index)
    edges = (weight._edge, None)
    if edges[0] is None or not current().grad:
        return make(out, None)
    assert _op.saves is not None
    saved, versions = _op.saves(edges, (None, weight, indices))
    shapes = (a.shape, index.shape)
    words = padding_idx, by_frequency, sparse
    return make(out, Node(_op, edges, saved, versions, shapes, a.dtype, words))


embedding_op = operator(_embedding, _op)


@embedding_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (indices,), shape = n.saved, n.shapes[0]
    padding_idx, by_frequency, sparse = n.attributes
    dtype = k.dtype(g)
    if by_frequency:
        g = k.div(g, _frequencies(k, indices, shape[0], g))
    if sparse and _is_of_leaf(n) and not k.records:
        return _rows(n, g, indices, padding_idx), None
    dweight = k.embedding_backward(g, indices, padding_idx, shape=shape, dtype=dtype)
    return dweight, None


def _is_of_leaf(n: Any) -> bool:
    """Return whether the table is a leaf: only leaves get sparse gradients."""
    return getattr(n, "node", n).edges[0].__class__ is Leaf


def _rows(n: Any, g: Any, indices: Any, padding_idx: int) -> Any:
    """Return the gradient of the rows that were selected, as a sparse tensor."""
    refuse_reading("a sparse gradient", "Make the layer with sparse=False")
    shape, dtype = n.shapes[0], getattr(n, "node", n).dtype
    g = g if g.dtype is dtype else arrays.cast(g, dtype)
    index = make(arrays.reshape(indices, (-1,)), None)
    values = make(arrays.reshape(g, (index.shape[0], shape[1])), None)
    if padding_idx >= 0:
        found: Any = masking.nonzero(index != padding_idx)
        kept = view.reshape_op(found, (-1,))
        index = indexing.index_select(index, 0, kept)
        values = indexing.index_select(values, 0, kept)
    return rows(index, values, shape)


def _frequencies(k: Any, indices: Any, rows: int, g: Any) -> Any:
    """Return the frequency of each index, in a shape that divides the rows of g."""
    size = math.prod(k.shape(indices))
    flat = k.reshape(indices, (size,))
    one = k.full((size,), 1, k.dtype(g))
    times = k.index_add(k.zeros((rows,), k.dtype(g)), flat, one, 0)
    return k.reshape(k.index_select(times, flat, 0), (*k.shape(indices), 1))


#: Prevents a division by 0 for a row of length 0.
_SMALL = 1e-7


@traced
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    r"""Return the rows of `weight` that `input` selects: weight[input].

    Parameters
    ----------
    input
        Indices from 0 to V - 1, a tensor of int64 or int32 of any shape (\*).
    weight
        The table, a tensor of shape (V, D) and any dtype.
    padding_idx
        The index of a row that gets no gradient; a negative number counts from the end.
    max_norm
        The largest allowed norm.  Rows that `input` selects and whose norm is larger
        are first scaled down to this norm, in place.
    norm_type
        The order p of the norm that `max_norm` limits, (sum abs(x)^p)^(1 / p).
    scale_grad_by_freq
        True to divide the gradient of a row by the number of times that `input` selects
        it.
    sparse
        True if the gradient of a table that is a leaf is a sparse tensor, with the
        selected rows only.  Then `scale_grad_by_freq` must be False.

    Returns
    -------
    Tensor
        A tensor of shape (\*, D).

    Raises
    ------
    KernelDataError
        If an index is not between 0 and V - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> table = ac.tensor([[0.0, 0.0], [1.0, 2.0]])
    >>> ac.nn.functional.embedding(ac.tensor([1, 0, 1]), table)
    tensor([[1., 2.],
            [0., 0.],
            [1., 2.]])
    """
    if sparse:
        check_sparse("embedding", sparse, scale_grad_by_freq)
    numbers = row_numbers("embedding", input)
    if check_tensor("embedding", weight).ndim != 2:
        raise ShapeError(
            f"embedding: 'weight' must be 2-D, a table [V, D]; it has shape "
            f"{weight.shape}."
        )
    padding = row_number("embedding", padding_idx, weight.shape[0])
    kept = -1 if padding is None else padding
    if max_norm is not None:
        _shorten(weight, view.reshape_op(numbers, (-1,)), max_norm, norm_type)
    if not weight.dtype.is_differentiable:
        flat = indexing.index_select(weight, 0, view.reshape_op(numbers, (-1,)))
        return view.reshape(flat, (*numbers.shape, weight.shape[1]))
    try:
        return embedding_op(weight, numbers, kept, bool(scale_grad_by_freq), sparse)
    except KernelIndexError as error:
        also = (
            " (Expected idx >= 0 && idx < num_embeddings: index out of range in self)"
        )
        raise with_range(error, weight.shape[0], also=also) from None


def _shorten(weight: Tensor, numbers: Tensor, most: float, p: float) -> None:
    """Scale down the rows selected by `numbers` that are longer than `most`."""
    with no_grad():
        chosen = indexing.index_select_op(weight, numbers, 0)
        wide = dtypes.float32 if weight.dtype.is_half else None  # rounded once, below
        length = vector_norms.vector_norm(chosen, p, 1, dtype=wide)
        scale = masking.where(length > most, most / (length + _SMALL), 1.0)
        shorter = cast(chosen * view.reshape_op(scale, (-1, 1)), weight.dtype)
        weight.index_copy_(0, numbers, shorter)


def check_sparse(where: str, sparse: Any, by_frequency: Any) -> None:
    """Raise if a sparse gradient is to be divided by frequencies."""
    if sparse and by_frequency:
        raise ArgumentError(
            f"{where}: scale_grad_by_freq not supported with sparse gradients; set "
            "one of `scale_grad_by_freq` and `sparse` to False."
        )


def row_numbers(where: str, input: Any) -> Tensor:
    """Return the numbers of rows, a tensor of int64 or int32, as int64."""
    if check_tensor(where, input).dtype not in (dtypes.int64, dtypes.int32):
        raise DTypeError(
            f"{where}: Expected tensor for argument 'indices' to have scalar type Long "
            f"or Int, but it has dtype {input.dtype.name}. Convert it with .long()."
        )
    return indexing.as_positions(where, input)


def row_number(where: str, padding_idx: Any, rows: int) -> int | None:
    """Return the index of the padding row, counted from the first row."""
    if padding_idx is None:
        return None
    padding_idx = plain(padding_idx)
    if not isinstance(padding_idx, int) or not -rows <= padding_idx < rows:
        raise ArgumentError(
            f"{where}: `padding_idx` is {padding_idx!r} for a table of {rows} rows; it "
            f"must be between {-rows} and {rows - 1}."
        )
    return padding_idx % rows


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return one-hot vectors: 1 at the index of the class, and 0 elsewhere.

    Parameters
    ----------
    tensor
        The classes, integers from 0 on, a tensor of int64 of any shape.
    num_classes
        The number of classes; by default one more than the largest class.

    Returns
    -------
    Tensor
        A tensor of int64 with the shape of `tensor` and a last dimension of size
        `num_classes`.

    Raises
    ------
    DTypeError
        If `tensor` is not int64.
    ArgumentError
        If `num_classes` is not positive.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.one_hot(ac.tensor([1, 0]), 3)
    tensor([[0, 1, 0],
            [1, 0, 0]])
    """
    x, count = (
        indexing.long_positions("one_hot", tensor, name="`tensor`"),
        as_int("one_hot", "num_classes", num_classes),
    )
    if count < 1:
        if count != -1 or x.numel() == 0:
            raise ArgumentError(
                f"one_hot: `num_classes`={count} for {x.numel()} labels; it must be 1 "
                "or more."
            )
        count = int(x.max()) + 1
    return _one_hot(x, count)


@traced
def _one_hot(x: Tensor, count: int) -> Tensor:
    a = x._array
    nothing = arrays.zeros((*a.shape, max(count, 1)), a.dtype)
    if not a.size:
        return make(nothing, None)
    index = arrays.reshape(a, (*a.shape, 1))
    ones = arrays.expand(arrays.constant(1, a), index.shape)
    try:
        return make(arrays.scatter(nothing, index, ones, a.ndim, into=nothing), None)
    except KernelIndexError as error:
        raise with_range(error, count, where="one_hot") from None
