# SPDX-License-Identifier: MIT
"""Parts of a tensor, by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._ops import shape as shapes
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._ops._coerce import cast
from autocalc._ops._out import apply_out
from autocalc._ops.functional._index import part_of, read_picked, sole_pick, split_index
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import DTypeError, ShapeError


def as_positions(where: str, index: Any) -> Tensor:
    """Return an index tensor as int64."""
    if check_tensor(where, index).dtype is dtypes.bool_ or index.is_floating_point():
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
    sparse_grad: bool = False,
    out: Tensor | None = None,
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
    axis = axis_of("gather", dim, check_tensor("gather", input).ndim)
    places = as_positions("gather", index)
    if input.ndim == 0 or places.ndim == 0:
        return apply_out("gather", _of_0d(gather, input, dim, places), out)
    if places.numel() == 0:
        nothing = shapes.reshape(places, (-1,))
        nothing = shapes.index_select(shapes.reshape(input, (-1,)), nothing, 0)
        return apply_out(
            "gather",
            shapes.detach_from_base(shapes.reshape(nothing, places.shape)),
            out,
        )
    return apply_out(
        "gather",
        shapes.gather(window("gather", input, places.shape, axis), places, axis),
        out,
    )


def _of_0d(
    function: Callable[..., Tensor], input: Tensor, dim: int, index: Tensor
) -> Tensor:
    """Run a function on a 0-d tensor or index as if it had one dimension."""
    x = shapes.reshape(input, (1,)) if input.ndim == 0 else input
    where = shapes.reshape(index, (1,)) if index.ndim == 0 else index
    out = function(x, dim, where)
    return shapes.detach_from_base(shapes.reshape(out, index.shape))


def index_select(
    input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return the slices of `input` along `dim` that the 1-d `index` names."""
    axis = axis_of("index_select", dim, check_tensor("index_select", input).ndim)
    places = as_positions("index_select", index)
    if places.ndim == 0:
        places = shapes.reshape(places, (1,))
    if input.ndim == 0:
        found = shapes.index_select(shapes.reshape(input, (1,)), places, 0)
        return apply_out(
            "index_select", shapes.detach_from_base(shapes.reshape(found, ())), out
        )
    return apply_out("index_select", shapes.index_select(input, places, axis), out)


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
    sole = sole_pick(check_tensor("index", input), index)
    if sole is not None:
        return read_picked(input, sole)
    basic, picks = split_index(input, index)
    if not picks:
        return shapes.slice(input, basic)
    return read_picked(part_of(input, basic), picks)
