# SPDX-License-Identifier: MIT
"""Writing at indices and where masks hold; each returns a new tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops import elementwise
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._ops._coerce import as_operand, dtype_of
from autocalc._ops._out import apply_out
from autocalc._ops.functional._index import (
    Picks,
    put_picked,
    split_index,
    true_positions,
    wrapped,
)
from autocalc._ops.functional._writing import copy_, fill_
from autocalc._ops.functional.indexing import as_positions, gather, window
from autocalc._ops.functional.shapes import expand
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = [
    "fill",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "masked_fill",
    "masked_scatter",
    "scatter",
    "scatter_add",
    "take_along_dim",
]


def fill(input: Tensor, value: Any) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, filled with `value`."""
    return fill_(shapes.clone(check_tensor("fill", input)), value)


def index_put(
    input: Tensor,
    indices: Sequence[Tensor | None],
    values: Tensor,
    accumulate: bool = False,
) -> Tensor:
    """Return `input` with ``input[indices] = values``, or added with `accumulate`.

    Parameters
    ----------
    input
        Of any shape.
    indices
        One integer or boolean tensor for each leading dimension; None takes all of it.
    values
        What to write; it broadcasts to the shape of ``input[indices]``.
    accumulate
        Add, in order, in place of writing.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_put(ac.zeros(3, dtype=ac.int64), (ac.tensor([2, 0]),), ac.tensor(5))
    tensor([5, 0, 5])
    """
    x = check_tensor("index_put", input)
    if not isinstance(indices, (list, tuple)) or not all(
        one is None or isinstance(one, Tensor) for one in indices
    ):
        message = (
            f"index_put: `indices` is {indices!r}; it must be a tuple of tensors and "
            f"None."
        )
        raise DTypeError(message)

    parts = tuple(slice(None) if one is None else one for one in indices)
    _, picks = split_index(x, parts)
    if not picks or any(isinstance(part, int) for part in parts):
        return _put_parts(x, indices, values, accumulate)
    return put_picked("index_put", x, picks, values, accumulate)


def _put_parts(
    x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool
) -> Tensor:
    """Write at 0-d index tensors, which brackets would take for integers."""
    parts = tuple(
        slice(None) if i is None else shapes.reshape(i, (1,)) if i.ndim == 0 else i
        for i in indices
    )
    picks: Picks = split_index(x, parts)[1]
    if not picks:
        message = "index_put: `indices` holds no tensor; give one at least."
        raise ArgumentError(message)
    return put_picked("index_put", x, picks, values, accumulate)


def _on_a_line(function: Callable[..., Tensor], x: Tensor, *parts: Any) -> Tensor:
    """Run an operator on a 0-d tensor as if it had one dimension."""
    out = function(shapes.reshape(x, (1,)), *parts, 0)
    return shapes.detach_from_base(shapes.reshape(out, ()))


def by_index(
    where: str,
    operator: Callable[..., Tensor],
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
) -> Tensor:
    """Check the operands of index_add and its like, and run the operator."""
    x, src = check_tensor(where, input), check_tensor(where, source)
    axis = axis_of(where, dim, x.ndim)
    places = as_positions(where, index)
    if places.ndim > 1:
        message = f"{where}: `index` has shape {places.shape}; it must be a vector."
        raise ShapeError(message)
    places = shapes.reshape(places, (-1,))
    if src.dtype is not x.dtype:
        message = (
            f"{where}: `input` has dtype {x.dtype.name}, `source` {src.dtype.name}; "
            f"they must be equal."
        )
        raise DTypeError(message)
    if x.ndim == 0:
        return _on_a_line(operator, x, places, shapes.reshape(src, (-1,)))
    if src.ndim == 0:
        src = shapes.reshape(src, (1,))
    sizes = (*x.shape[:axis], places.shape[0], *x.shape[axis + 1 :])
    if src.shape != sizes:
        message = (
            f"{where}: `source` has shape {src.shape}; for an input of {x.shape} and "
            f"{places.shape[0]} indices along dimension {axis} it must have {sizes}."
        )
        raise ShapeError(message)
    return operator(x, places, src, axis)


def index_add(
    input: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return `input` with alpha * source[i] added at index[i] along `dim`.

    In the order of `index`, which may name a place more than once.
    """
    scaled = source if alpha == 1 else elementwise.mul(source, alpha)
    return apply_out(
        "index_add",
        by_index("index_add", shapes.index_add, input, dim, index, scaled),
        out,
    )


def index_copy(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return `input` with source[i] written at index[i] along `dim`.

    The last one stays where `index` names a place more than once.
    """
    return apply_out(
        "index_copy",
        by_index("index_copy", shapes.index_copy, input, dim, index, source),
        out,
    )


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return `input` with the number `value` at `index` along `dim`."""
    x = check_tensor("index_fill", input)
    axis = axis_of("index_fill", dim, x.ndim)
    places = as_positions("index_fill", index)
    places = wrapped(places, x.shape[axis] if x.ndim else 1)
    n = places.numel()
    number = checked_number("index_fill", x, value)
    sizes = (*x.shape[:axis], n, *x.shape[axis + 1 :]) if x.ndim else (n,)
    source = expand(number, sizes)
    return by_index("index_fill", shapes.index_copy, input, dim, places, source)


def checked_number(where: str, x: Tensor, value: Any) -> Tensor:
    """Return a number or 0-d tensor in the dtype of `x`, which must hold its kind."""
    if isinstance(value, Tensor) and value.ndim:
        message = (
            f"{where}: `value` is a tensor of shape {value.shape}; it must be a number "
            f"or a tensor without dimensions."
        )
        raise ShapeError(message)
    kind = dtype_of(where, value)
    if kind.category > x.dtype.category:
        message = (
            f"{where}: `value` is {kind.name}, which a tensor of {x.dtype.name} cannot "
            f"hold; convert the tensor first."
        )
        raise DTypeError(message)
    return as_operand(value, x.dtype)


def checked_mask(where: str, mask: Any) -> Tensor:
    """Return a tensor of booleans."""
    if check_tensor(where, mask).dtype is not dtypes.bool_:
        message = (
            f"{where}: `mask` has dtype {mask.dtype.name}; it must be bool, as "
            f"comparisons give it."
        )
        raise DTypeError(message)
    return mask  # type: ignore[no-any-return]  # checked


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return `input` with the number `value` where `mask` holds; shapes broadcast.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1, -2, 3])
    >>> x.masked_fill(x < 0, 0)
    tensor([1, 0, 3])
    """
    x, holds = check_tensor("masked_fill", input), checked_mask("masked_fill", mask)
    return elementwise.choose(holds, checked_number("masked_fill", x, value), x)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return `input` with the elements of `source`, in order, where `mask` holds."""
    x, holds = (
        check_tensor("masked_scatter", input),
        checked_mask("masked_scatter", mask),
    )
    shape = broadcast_shapes("masked_scatter", x.shape, holds.shape)
    x, holds = expand(x, shape), expand(holds, shape)

    flat = true_positions(shapes.reshape(holds, (-1,)))
    values = shapes.reshape(check_tensor("masked_scatter", source), (-1,))
    if values.numel() < flat.numel():
        message = (
            f"masked_scatter: `source` has {values.numel()} elements for "
            f"{flat.numel()} places; it must have as many at least."
        )
        raise ShapeError(message)
    values = as_operand(shapes.slice(values, (slice(0, flat.numel()),)), x.dtype)
    out = shapes.index_copy(shapes.reshape(x, (-1,)), flat, values, 0)
    return shapes.detach_from_base(shapes.reshape(out, shape))


# ---- along a dimension ---------------------------------------------------------------


def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return `input` with `src` written where `index` says along `dim`.

    ``out[index[i][j]][j] = src[i][j]`` for dim 0; the last one stays where a place is
    named more than once.

    Parameters
    ----------
    input
        Of any shape.
    index
        Integers; in no dimension but `dim` larger than `input`, and in none than `src`.
    src, value
        A tensor, or a number.
    reduce
        ``"add"`` adds in place of writing, as `scatter_add`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3, dtype=ac.int64).scatter(1, ac.tensor([[2], [0]]), 7)
    tensor([[0, 0, 7],
            [7, 0, 0]])
    """
    what = value if src is None else src
    x = check_tensor("scatter", input)
    if reduce not in (None, "add"):
        message = (
            f"scatter: `reduce`={reduce!r} is not available; use 'add', or leave it "
            f"out."
        )
        raise ArgumentError(message)
    if not isinstance(what, Tensor):
        number = checked_number("scatter", x, what)
        what = expand(number, as_positions("scatter", index).shape)
    operator = shapes.scatter if reduce is None else shapes.scatter_add
    return apply_out("scatter", along("scatter", operator, x, dim, index, what), out)


def scatter_add(
    input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return `input` with `src` added where `index` says along `dim`.

    ``out[index[i][j]][j] += src[i][j]`` for dim 0, in order.
    """
    x, what = check_tensor("scatter_add", input), check_tensor("scatter_add", src)
    return apply_out(
        "scatter_add",
        along("scatter_add", shapes.scatter_add, x, dim, index, what),
        out,
    )


def along(
    where: str,
    operator: Callable[..., Tensor],
    x: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
) -> Tensor:
    """Check the operands of scatter and scatter_add, and run the operator."""
    axis = axis_of(where, dim, x.ndim)
    places = as_positions(where, index)
    if src.dtype is not x.dtype:
        message = (
            f"{where}: `input` has dtype {x.dtype.name}, `src` {src.dtype.name}; they "
            f"must be equal."
        )
        raise DTypeError(message)
    if x.ndim == 0:
        line = (shapes.reshape(t, (-1,)) for t in (places, src))
        return _on_a_line(operator, x, *line)
    if places.numel() == 0:
        return shapes.clone(x)
    part = window(where, x, places.shape, axis)
    if src.ndim != places.ndim or any(
        n > m for n, m in zip(places.shape, src.shape, strict=True)
    ):
        message = (
            f"{where}: `index` has shape {places.shape}, `src` {src.shape}; `src` must "
            f"be as large in every dimension."
        )
        raise ShapeError(message)
    if src.shape != places.shape:
        src = shapes.slice(src, tuple(slice(0, n) for n in places.shape))
    out = operator(part, places, src, axis)
    if part is x:
        return out
    whole = shapes.clone(x)
    copy_(window(where, whole, places.shape, axis), out)
    return whole


def take_along_dim(
    input: Tensor, indices: Tensor, dim: int | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the elements that `indices` names along `dim`; other sizes broadcast.

    Without `dim`, of the flattened input.  What `argsort` gives sorts so.
    """
    x, places = (
        check_tensor("take_along_dim", input),
        as_positions("take_along_dim", indices),
    )
    if dim is None:
        flat = shapes.reshape(wrapped(places, x.numel()), (-1,))
        return apply_out(
            "take_along_dim", gather(shapes.reshape(x, (-1,)), 0, flat), out
        )
    if x.ndim != places.ndim:
        message = (
            f"take_along_dim: `input` has shape {x.shape}, `indices` {places.shape}; "
            f"they must have as many dimensions."
        )
        raise ShapeError(message)
    axis = axis_of("take_along_dim", dim, x.ndim)
    ones = [1 if i == axis else n for i, n in enumerate(x.shape)]
    shape = broadcast_shapes("take_along_dim", tuple(ones), places.shape)
    sizes = [x.shape[axis] if i == axis else n for i, n in enumerate(shape)]
    places = expand(wrapped(places, x.shape[axis]), shape)
    return apply_out("take_along_dim", gather(expand(x, sizes), axis, places), out)
