# SPDX-License-Identifier: MIT
"""Parts of a tensor, by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc import _dtypes as dtypes
from autocalc._functional._arguments import axis_of, checked
from autocalc._functional._index import part_of, read_picked, split_index
from autocalc._ops import embedding as embedding_op
from autocalc._ops import shape as shapes
from autocalc._ops._coerce import cast
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def as_positions(where: str, index: Any) -> Tensor:
    """Return an index tensor as int64."""
    if checked(where, index).dtype is dtypes.bool_ or index.is_floating_point():
        message = (
            f"{where}: the index has dtype {index.dtype.name}; it must hold integers."
        )
        raise DTypeError(message)
    return cast(index, dtypes.int64)


def window(where: str, x: Tensor, sizes: tuple[int, ...], axis: int) -> Tensor:
    """Return the part of `x` that an index of shape `sizes` along `axis` is for.

    Raises
    ------
    ShapeError
        If `x` has another number of dimensions, or is smaller in another one.
    """
    pairs = list(zip(sizes, x.shape, strict=False))
    if len(sizes) != x.ndim or any(
        n > m for i, (n, m) in enumerate(pairs) if i != axis
    ):
        message = (
            f"{where}: `index` has shape {sizes}, the input {x.shape}; they must have "
            f"as many dimensions, and `index` may be larger in dimension {axis} only."
        )
        raise ShapeError(message)
    if all(n == m or i == axis for i, (n, m) in enumerate(pairs)):
        return x
    place = (slice(None) if i == axis else slice(0, n) for i, n in enumerate(sizes))
    return shapes.slice(x, tuple(place))


def gather(
    input: Tensor,
    dim: int,
    index: Tensor,
    *,
    sparse_grad: bool = False,  # noqa: ARG001  there for PyTorch's argument
) -> Tensor:
    """Return the elements of `input` that `index` names along `dim`.

    ``out[i][j] = input[index[i][j]][j]`` for dim 0.

    Parameters
    ----------
    input
        Of any shape.
    index
        Integers, in no dimension but `dim` larger than `input`.
    sparse_grad
        Accepted, without effect.

    Returns
    -------
    Tensor
        Of the shape of `index`.

    Raises
    ------
    KernelDataError
        If an index is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.gather(ac.tensor([[1, 2], [3, 4]]), 1, ac.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    axis = axis_of("gather", dim, checked("gather", input).ndim)
    places = as_positions("gather", index)
    if input.ndim == 0 or places.ndim == 0:
        return _of_0d(gather, input, dim, places)
    if places.numel() == 0:
        nothing = shapes.reshape(places, (-1,))
        nothing = shapes.index_select(shapes.reshape(input, (-1,)), nothing, 0)
        return shapes.unshared(shapes.reshape(nothing, places.shape))
    return shapes.gather(window("gather", input, places.shape, axis), places, axis)


def _of_0d(
    function: Callable[..., Tensor], input: Tensor, dim: int, index: Tensor
) -> Tensor:
    """Run a function on a 0-d tensor or index as if it had one dimension."""
    x = shapes.reshape(input, (1,)) if input.ndim == 0 else input
    where = shapes.reshape(index, (1,)) if index.ndim == 0 else index
    out = function(x, dim, where)
    return shapes.unshared(shapes.reshape(out, index.shape))


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` that the 1-d `index` names."""
    axis = axis_of("index_select", dim, checked("index_select", input).ndim)
    places = as_positions("index_select", index)
    if places.ndim == 0:
        places = shapes.reshape(places, (1,))
    if input.ndim == 0:
        out = shapes.index_select(shapes.reshape(input, (1,)), places, 0)
        return shapes.unshared(shapes.reshape(out, ()))
    return shapes.index_select(input, places, axis)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    r"""Return the rows of `weight` that `input` numbers: weight[input].

    Parameters
    ----------
    input
        Numbers from 0 to V - 1, of any shape (\*), of an integer dtype.
    weight
        The table, (V, D).
    padding_idx
        A row that gets no gradient; negative ones count from the end.
    max_norm, norm_type, scale_grad_by_freq, sparse
        Must be left out; there for PyTorch's argument order.

    Returns
    -------
    Tensor
        Of shape (\*, D).

    Raises
    ------
    KernelDataError
        If a number is outside 0 to V - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> table = ac.tensor([[0.0, 0.0], [1.0, 2.0]])
    >>> ac.nn.functional.embedding(ac.tensor([1, 0, 1]), table)
    tensor([[1., 2.],
            [0., 0.],
            [1., 2.]])
    """
    refuse_embedding_options(
        "embedding", max_norm, norm_type, scale_grad_by_freq, sparse
    )
    if checked("embedding", input).dtype is dtypes.bool_ or input.is_floating_point():
        message = (
            f"embedding: `input` has dtype {input.dtype.name}; it holds the numbers of "
            f"rows, which must be integers."
        )
        raise DTypeError(message)
    if checked("embedding", weight).ndim != 2:
        message = (
            f"embedding: `weight` has shape {weight.shape}; it must be a table of two "
            f"dimensions, [V, D]."
        )
        raise ShapeError(message)
    padding = row_number("embedding", padding_idx, weight.shape[0])
    kept = -1 if padding is None else padding
    return embedding_op.embedding(weight, cast(input, dtypes.int64), kept)


def refuse_embedding_options(
    where: str,
    max_norm: float | None,
    norm_type: float,
    scale_grad_by_freq: bool,
    sparse: bool,
) -> None:
    """Raise if one of PyTorch's options is used that there is no kernel for."""
    given = {
        "max_norm": max_norm,
        "norm_type": None if norm_type == 2.0 else norm_type,
        "scale_grad_by_freq": scale_grad_by_freq or None,
        "sparse": sparse or None,
    }
    for name, value in given.items():
        if value is not None:
            message = f"{where}: `{name}`={value} is not available; leave it out."
            raise ArgumentError(message)


def row_number(where: str, padding_idx: Any, rows: int) -> int | None:
    """Return the number of the padding row, counted from the first."""
    if padding_idx is None:
        return None
    if not isinstance(padding_idx, int) or not -rows <= padding_idx < rows:
        message = (
            f"{where}: `padding_idx` is {padding_idx!r} for a table of {rows} rows; it "
            f"must lie in {-rows} to {rows - 1}."
        )
        raise ArgumentError(message)
    return padding_idx % rows


def getitem(input: Tensor, index: Any) -> Tensor:
    """Return ``input[index]``.

    Integers, slices, None and Ellipsis give a view.  Integer and boolean tensors (and
    lists) pick elements, which are copied; they mix as in PyTorch: neighbouring ones
    stand where the first of them stood, others in front.

    Raises
    ------
    DimensionError
        If an integer is out of range, or there are more indices than dimensions.
    KernelDataError
        If an index in a tensor is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.arange(12).reshape(3, 4)
    >>> x[[0, -1], 1:3]
    tensor([[ 1,  2],
            [ 9, 10]])
    >>> x[x > 8]
    tensor([ 9, 10, 11])
    """
    basic, picks = split_index(checked("index", input), index)
    if not picks:
        return shapes.slice(input, basic)
    return read_picked(part_of(input, basic), picks)
