# SPDX-License-Identifier: MIT
"""Parts of a tensor, by index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc import _dtypes as dtypes
from autocalc._functional._arguments import axis_of, checked
from autocalc._ops import elementwise
from autocalc._ops import embedding as embedding_op
from autocalc._ops import shape as shapes
from autocalc._ops._coerce import cast
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of `input` that `index` names along `dim`."""
    axis = axis_of("gather", dim, input.ndim)
    if input.ndim == 0 or index.ndim == 0:
        return _of_0d(gather, input, dim, index)
    if index.numel() == 0:
        nothing = cast(shapes.reshape(index, (-1,)), dtypes.int64)
        nothing = shapes.index_select(shapes.reshape(input, (-1,)), nothing, 0)
        return shapes.unshared(shapes.reshape(nothing, index.shape))
    return shapes.gather(input, cast(index, dtypes.int64), axis)


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
    axis = axis_of("index_select", dim, input.ndim)
    if input.ndim == 0:
        return shapes.unshared(
            shapes.reshape(index_select(shapes.reshape(input, (1,)), 0, index), ())
        )
    return shapes.index_select(input, cast(index, dtypes.int64), axis)


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
    """Return ``input[index]``: integers, slices, None, Ellipsis, or one index tensor.

    Basic indexing gives a view.  An integer tensor (or list) selects along the first
    dimension.
    """
    if isinstance(index, list):
        from autocalc._creation import tensor

        index = tensor(index)
    if isinstance(index, Tensor):
        return _select(input, index)
    return shapes.slice(input, basic_index(input, index))


def _select(input: Tensor, index: Tensor) -> Tensor:
    """Select along the first dimension by an integer tensor of any shape."""
    if index.dtype in (dtypes.bool_, dtypes.uint8) or index.is_floating_point():
        message = (
            f"index: a tensor of {index.dtype.name} cannot be an index yet; use "
            f"integer positions, or where() for a mask."
        )
        raise DTypeError(message)
    if index.ndim == 0:
        return getitem(input, int(index))
    if input.ndim == 0:
        message = "index: a 0-d tensor cannot be indexed; use item() for its value."
        raise DimensionError(message)
    flat = cast(shapes.reshape(index, (-1,)), dtypes.int64)
    below = elementwise.lt(flat, 0)
    flat = elementwise.choose(below, elementwise.add(flat, input.shape[0]), flat)
    rows = index_select(input, 0, flat)
    return shapes.unshared(shapes.reshape(rows, (*index.shape, *input.shape[1:])))


def basic_index(x: Tensor, index: Any) -> tuple[Any, ...]:
    """Return a checked tuple of integers, slices, None and Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    result: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis:
            result.append(part)
        elif isinstance(part, slice):
            result.append(_checked_slice(part))
        elif isinstance(part, bool) or not hasattr(part, "__index__"):
            message = (
                f"index: {part!r} is a {type(part).__name__}; use integers, slices, "
                f"None, Ellipsis, or one integer tensor."
            )
            raise DTypeError(message)
        else:
            result.append(part.__index__())
    _check_range(x, result)
    return (*result, ...) if Ellipsis not in result else tuple(result)


def _checked_slice(part: Any) -> Any:
    step = 1 if part.step is None else part.step.__index__()
    if step < 1:
        message = f"index: a slice has step {step}; steps must be 1 or more."
        raise ArgumentError(message)
    start, stop = (
        None if e is None else e.__index__() for e in (part.start, part.stop)
    )
    return slice(start, stop, step)


def _check_range(x: Tensor, index: list[Any]) -> None:
    used = [part for part in index if part is not None and part is not Ellipsis]
    if len(used) > x.ndim or index.count(Ellipsis) > 1:
        message = (
            f"index: {len(used)} indices for a tensor of shape {x.shape}, which has "
            f"{x.ndim} dimensions."
        )
        raise DimensionError(message)
    axis = 0
    for part in index:
        if part is Ellipsis:
            axis = x.ndim - (len(used) - axis)
        elif part is not None:
            size = x.shape[axis]
            if not isinstance(part, slice) and not -size <= part < size:
                message = (
                    f"index: {part} is out of range for dimension {axis} of size "
                    f"{size} in shape {x.shape}."
                )
                raise DimensionError(message)
            axis += 1
