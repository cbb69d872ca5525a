# SPDX-License-Identifier: MIT
"""Values written or added at indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autocalc._dispatch._arrays import arrays
from autocalc._ops import (
    _index,
    _writing,
    arithmetic,
    broadcasting,
    comparison,
    indexing,
    slicing,
    view,
)
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._ops._coerce import as_operand, cast, checked_number, same_dtype
from autocalc._ops._method import method
from autocalc._ops._op import nary
from autocalc._ops._out import apply_out
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import FLAG, check_flag, one_of
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

scatter_add_op = nary("scatter_add", saves="index:src")


@scatter_add_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    return (
        g if n.needs(0) else None,
        None,
        k.gather(g, index, *n.attributes) if n.needs(2) else None,
    )


index_add_op = nary("index_add", saves="index:src")


@index_add_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,) = n.saved
    return (
        g if n.needs(0) else None,
        None,
        k.index_select(g, index, *n.attributes) if n.needs(2) else None,
    )


def _winners(k: Any, index: Any, like: Any, axis: int) -> Any:
    """Return where `index`, of the shape of `like`, is the last one for its place."""
    shape = k.shape(index)
    line = tuple(shape[axis] if d == axis else 1 for d in range(len(shape)))
    numbers = k.reshape(k.arange(shape[axis], index), line)
    numbers = k.contiguous(k.expand(numbers, shape))
    none = k.zeros(k.shape(like), k.dtype(index))
    last = k.gather(k.scatter(none, index, numbers, axis), index, axis)
    return k.compare(last, numbers, "eq")


scatter_op = nary("scatter", saves="index")


@scatter_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,), (axis,) = n.saved, n.attributes
    da = dsrc = None
    if n.needs(0):
        da = k.scatter(g, index, k.zeros(n.shapes[2], k.dtype(g)), axis)
    if n.needs(2):
        taken = k.gather(g, index, axis)
        dsrc = k.where(_winners(k, index, g, axis), taken, k.constant(0, g))
    return da, None, dsrc


scatter_mul_op = nary("scatter_mul")


@scatter_mul_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    message = (
        "scatter: `reduce`='multiply' has no derivative; multiply by "
        "ones.scatter(...) instead."
    )
    raise GradError(message)


def _also_of_booleans(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a sum or product at indices that takes booleans as 1 and 0, too.

    A sum is whether any of them is true, a product whether all are.
    """

    def run(x: Tensor, index: Tensor, src: Tensor, axis: int) -> Tensor:
        if x.dtype is not dtypes.bool_:
            return operator(x, index, src, axis)
        counts, more = cast(x, dtypes.int64), cast(src, dtypes.int64)
        return comparison.ne(operator(counts, index, more, axis), 0)

    return run


add_at, add_along, multiply_along = map(
    _also_of_booleans, (index_add_op, scatter_add_op, scatter_mul_op)
)

index_copy_op = nary("index_copy", saves="index")


@index_copy_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,), (axis,) = n.saved, n.attributes
    da = dsrc = None
    if n.needs(0):
        da = k.index_copy(g, index, k.zeros(n.shapes[2], k.dtype(g)), axis)
    if n.needs(2):
        taken = k.index_select(g, index, axis)
        places = k.zeros((n.shapes[0][axis],), k.dtype(index))
        wins = _winners(k, index, places, 0)
        line = tuple(m if d == axis else 1 for d, m in enumerate(n.shapes[2]))
        dsrc = k.where(k.reshape(wins, line), taken, k.constant(0, g))
    return da, None, dsrc


def _values_for(where: str, x: Tensor, picks: _index.Picks, values: Any) -> Tensor:
    """Return values in the dtype of `x`: numbers, or a tensor that has it.

    Where one mask holds, one element of any dtype counts as a number.
    """
    alone = len(picks) == 1 and picks[0][1].dtype is dtypes.bool_
    if isinstance(values, Tensor) and not (alone and values.numel() == 1):
        return same_dtype(where, x, values)[1]
    return as_operand(values, x.dtype)


def put_picked(
    where: str, x: Tensor, picks: _index.Picks, values: Any, accumulate: bool
) -> Tensor:
    """Return `x` with `values` at the elements that index tensors name."""
    values = _values_for(where, x, picks, values)
    axis, mask = picks[0]
    if len(picks) == 1 and mask.dtype is dtypes.bool_ and not accumulate:
        _index._check_mask(x, axis, mask)
        if mask.ndim and values.numel() == 1:
            ones = (1,) * (x.ndim - axis - mask.ndim)
            holds = view.reshape_op(mask, (*mask.shape, *ones))
            return comparison.where_op(holds, view.reshape_op(values, ()), x)
    axes, positions, shape = _index.picked(x, picks)
    rows, lead, order = _index.merged(x, axes)
    before, after = rows.shape[:lead], rows.shape[lead + 1 :]
    picked = (*before, *shape, *after)
    values = broadcasting.expand(_index.fitting(where, values, picked), picked)
    source = view.reshape_op(values, (*before, math.prod(shape), *after))
    write = add_at if accumulate else index_copy_op
    out = write(rows, positions, source, lead)
    sizes = [x.shape[axis] for axis in order]
    out = view.detach_from_base(view.reshape_op(out, tuple(sizes)))
    if order == tuple(range(x.ndim)):
        return out
    back = tuple(sorted(range(x.ndim), key=order.__getitem__))
    return view.detach_from_base(view.permute_op(out, back))


def write_picked(where: str, x: Tensor, picks: _index.Picks, values: Any) -> bool:
    """Write `values` into `x` itself at the elements that index tensors name.

    Returns False, with nothing written, where `x` does not lie as a kernel needs it:
    then `put_picked` makes what it is to become.
    """
    a, values = x._array, _values_for(where, x, picks, values)
    axis, mask = picks[0]
    if len(picks) == 1 and mask.dtype is dtypes.bool_ and mask.ndim:
        _index._check_mask(x, axis, mask)
        if values.numel() == 1:
            ones = (1,) * (x.ndim - axis - mask.ndim)
            holds = mask._array.reshape((*mask.shape, *ones))
            number = values._array.reshape(())
            if arrays.may_overlap(a, holds) or arrays.may_overlap(a, number):
                return False
            arrays.where(holds, number, a, into=a)
            return True
    if not a.flags.c_contiguous:
        return False
    axes, positions, shape = _index.picked(x, picks)
    if axes != tuple(range(axes[0], axes[0] + len(axes))):
        return False
    before, after = x.shape[: axes[0]], x.shape[axes[-1] + 1 :]
    wanted = (*before, *shape, *after)
    source = arrays.expand(
        _index.fitting(where, values.detach(), wanted)._array, wanted
    )
    if arrays.may_overlap(source, a):
        source = arrays.copy(source)
    source = view.reshape_op(make(source, None), (*before, math.prod(shape), *after))
    rows = a.reshape((*before, math.prod(x.shape[axes[0] : axes[-1] + 1]), *after))
    arrays.index_copy(rows, positions._array, source._array, axes[0], into=rows)
    return True


def fill(input: Tensor, value: Any) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, filled with `value`.

    Parameters
    ----------
    input
        The tensor.
    value
        A number, or a tensor of one.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fill(ac.zeros(2), 3.0)
    tensor([3., 3.])
    """
    return _writing.fill_(view.clone_op(check_tensor("fill", input)), value)


@method("index_put", inplace="index_put_")
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

    Raises
    ------
    DTypeError
        If `indices` is no tuple of tensors and None.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_put(ac.zeros(3, dtype=ac.int64), (ac.tensor([2, 0]),), ac.tensor(5))
    tensor([5, 0, 5])
    """
    if accumulate.__class__ is not FLAG:
        accumulate = check_flag("index_put", "accumulate", accumulate)
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
    check_tensor("index_put", values)
    _, picks = _index.split_index(x, parts)
    if not picks or any(isinstance(part, int) for part in parts):
        return _put_parts(x, indices, values, accumulate)
    return put_picked("index_put", x, picks, values, accumulate)


def _put_parts(
    x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool
) -> Tensor:
    """Write at 0-d index tensors, which brackets would take for integers."""
    parts = tuple(
        slice(None) if i is None else view.reshape_op(i, (1,)) if i.ndim == 0 else i
        for i in indices
    )
    picks: _index.Picks = _index.split_index(x, parts)[1]
    if not picks:
        message = "index_put: `indices` holds no tensor; give one at least."
        raise ArgumentError(message)
    return put_picked("index_put", x, picks, values, accumulate)


def _on_a_line(function: Callable[..., Tensor], x: Tensor, *parts: Any) -> Tensor:
    """Run an operator on a 0-d tensor as if it had one dimension."""
    out = function(view.reshape_op(x, (1,)), *parts, 0)
    return view.detach_from_base(view.reshape_op(out, ()))


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
    long = where in ("index_copy", "index_fill")
    places = (indexing.long_positions if long else indexing.as_positions)(where, index)
    if places.ndim > 1:
        message = f"{where}: `index` has shape {places.shape}; it must be a vector."
        raise ShapeError(message)
    places = view.reshape_op(places, (-1,))
    same_dtype(where, x, src)
    if x.ndim == 0:
        return _on_a_line(operator, x, places, view.reshape_op(src, (-1,)))
    if src.ndim == 0:
        src = view.reshape_op(src, (1,))
    sizes = (*x.shape[:axis], places.shape[0], *x.shape[axis + 1 :])
    if src.shape != sizes:
        message = (
            f"{where}: `source` has shape {src.shape}; for an input of {x.shape} and "
            f"{places.shape[0]} indices along dimension {axis} it must have {sizes}."
        )
        raise ShapeError(message)
    return operator(x, places, src, axis)


def scaled_by(alpha: Any, source: Tensor) -> Tensor:
    """Return alpha * source, of booleans whether it is not 0."""
    if alpha == 1:
        return source
    scaled = arithmetic.mul(check_tensor("index_add", source), alpha)
    return cast(scaled, dtypes.bool_) if source.dtype is dtypes.bool_ else scaled


@method("index_add")
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

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        Positions along `dim`, int64.
    source
        The slices, in the order of `index`.
    alpha
        A factor of `source`.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_add(ac.zeros(3), 0, ac.tensor([0, 0]), ac.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
    """
    scaled = scaled_by(alpha, source)
    return apply_out(
        "index_add",
        by_index("index_add", add_at, input, dim, index, scaled),
        out,
    )


@method("index_copy")
def index_copy(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return `input` with source[i] written at index[i] along `dim`.

    The last one stays where `index` names a place more than once.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        Positions along `dim`, int64.
    source
        The slices, in the order of `index`.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_copy(ac.zeros(3), 0, ac.tensor([2]), ac.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    return apply_out(
        "index_copy",
        by_index("index_copy", index_copy_op, input, dim, index, source),
        out,
    )


@method("index_fill", inplace="index_fill_")
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """Return `input` with the number `value` at `index` along `dim`.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        Positions along `dim`, int64.
    value
        A number, or a tensor of one.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_fill(ac.zeros(3), 0, ac.tensor([1]), 7.0)
    tensor([0., 7., 0.])
    """
    x = check_tensor("index_fill", input)
    axis = axis_of("index_fill", dim, x.ndim)
    places = indexing.long_positions("index_fill", index)
    places = _index.wrapped(places, x.shape[axis] if x.ndim else 1)
    n = places.numel()
    number = checked_number("index_fill", x, value)
    sizes = (*x.shape[:axis], n, *x.shape[axis + 1 :]) if x.ndim else (n,)
    source = broadcasting.expand(number, sizes)
    return by_index("index_fill", index_copy_op, input, dim, places, source)


@method("scatter")
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
        ``"add"`` adds in place of writing, as `scatter_add`; ``"multiply"`` multiplies
        and has no gradient.
    dim
        The dimension; a negative one counts from the end.
    out
        A tensor that takes the result, converted to its dtype.

    Raises
    ------
    ArgumentError
        If `reduce` is neither.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3, dtype=ac.int64).scatter(1, ac.tensor([[2], [0]]), 7)
    tensor([[0, 0, 7],
            [7, 0, 0]])
    """
    what = value if src is None else src
    x = check_tensor("scatter", input)
    if reduce is not None:
        one_of("scatter", "reduce", reduce, ("add", "multiply"))
    if not isinstance(what, Tensor):
        number = checked_number("scatter", x, what)
        what = broadcasting.expand(
            number, indexing.as_positions("scatter", index).shape
        )
    if reduce == "multiply":
        operator = multiply_along
    else:
        operator = scatter_op if reduce is None else add_along
    return apply_out("scatter", along("scatter", operator, x, dim, index, what), out)


@method("scatter_add")
def scatter_add(
    input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Tensor | None = None
) -> Tensor:
    """Return `input` with `src` added where `index` says along `dim`.

    ``out[index[i][j]][j] += src[i][j]`` for dim 0, in order.

    Parameters
    ----------
    input
        The tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        Positions along `dim`, int64.
    src
        The values; as many as `index` at least.
    out
        A tensor that takes the result, converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.scatter_add(ac.zeros(3), 0, ac.tensor([0, 0]), ac.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
    """
    x, what = check_tensor("scatter_add", input), check_tensor("scatter_add", src)
    return apply_out(
        "scatter_add",
        along("scatter_add", add_along, x, dim, index, what),
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
    places = indexing.as_positions(where, index)
    same_dtype(where, x, src)
    if x.ndim == 0:
        line = (view.reshape_op(t, (-1,)) for t in (places, src))
        return _on_a_line(operator, x, *line)
    places, src = (view.reshape_op(t, t.shape or (1,)) for t in (places, src))
    if places.numel() == 0:
        return view.clone_op(x)
    part = indexing.window(where, x, places.shape, axis)
    if src.ndim != places.ndim or any(
        n > m for n, m in zip(places.shape, src.shape, strict=True)
    ):
        message = (
            f"{where}: `index` has shape {places.shape}, `src` {src.shape}; `src` must "
            f"be as large in every dimension."
        )
        raise ShapeError(message)
    if src.shape != places.shape:
        src = slicing.slice_op(src, tuple(slice(0, n) for n in places.shape))
    out = operator(part, places, src, axis)
    if part is x:
        return out
    whole = view.clone_op(x)
    _writing.copy_(indexing.window(where, whole, places.shape, axis), out)
    return whole


@method("put", inplace="put_")
def put(
    input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
) -> Tensor:
    """Return `input` with `source` at, or added to, places of it flattened.

    Parameters
    ----------
    input
        The tensor.
    index
        Positions in the flattened tensor, int64.
    source
        The values.
    accumulate
        Add instead of overwrite.

    Raises
    ------
    ArgumentError
        If `source` has not as many elements as `index`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.put(ac.zeros(3), ac.tensor([2]), ac.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    if accumulate.__class__ is not FLAG:
        accumulate = check_flag("put", "accumulate", accumulate)
    x, places = check_tensor("put", input), indexing.long_positions("put", index)
    _, values = same_dtype("put", x, source)
    if values.numel() != places.numel():
        message = (
            f"put: `source` has {values.numel()} elements for {places.numel()} places; "
            f"there must be one for each."
        )
        raise ArgumentError(message)
    flat = _index.wrapped(view.reshape(places, (-1,)), x.numel())
    write = index_add if accumulate else index_copy
    found = write(view.reshape(x, (-1,)), 0, flat, view.reshape(values, (-1,)))
    return view.reshape(found, x.shape)
