# SPDX-License-Identifier: MIT
"""Operators that write or add values at indices."""

from __future__ import annotations

from collections.abc import Callable
from operator import gt
from typing import Any

from autocalc._kernels.indexing.ranges import with_range
from autocalc._ops._operator.arguments import NeededDim, axis_of, check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import cast, checked_number, same_dtype, together
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.indexing import _index, indexing
from autocalc._ops.views import _writing, broadcasting, slicing, view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import one_of
from autocalc.errors import KernelIndexError, NoDerivativeError, ShapeError

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
    """Return where an entry of `index` is the last one that writes to its place."""
    shape = k.shape(index)
    line = tuple(shape[axis] if d == axis else 1 for d in range(len(shape)))
    numbers = k.expand(k.reshape(k.arange(shape[axis], index), line), shape)
    none = k.zeros(k.shape(like), k.dtype(index))
    last = k.gather(k.scatter(none, index, numbers, axis), index, axis)
    return k.compare(last, numbers, "eq")


scatter_op = nary("scatter", saves="index")


@scatter_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (index,), (axis,) = n.saved, n.attributes
    da = dsrc = None
    if n.needs(0):
        zeros = k.expand(k.constant(0, g), n.shapes[2])
        da = k.scatter(g, index, zeros, axis)
    if n.needs(2):
        taken = k.gather(g, index, axis)
        dsrc = k.where(_winners(k, index, g, axis), taken, k.constant(0, g))
    return da, None, dsrc


scatter_mul_op = nary("scatter_mul")


@scatter_mul_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    raise NoDerivativeError(
        "scatter: `reduce`='multiply' has no derivative; multiply by "
        "ones.scatter(...) instead."
    )


def _also_of_booleans(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a sum or product at indices that also takes booleans, as 1 and 0.

    A sum of booleans is true if any of them is; a product is true if all are.
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


def fill(input: Tensor, value: Any) -> Tensor:
    """Return a tensor of the shape and dtype of `input`, filled with `value`.

    Parameters
    ----------
    input
        The input tensor.
    value
        A number, or a tensor of one element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fill(ac.zeros(2), 3.0)
    tensor([3., 3.])
    """
    return _writing.fill_(view.clone_op(check_tensor("fill", input)), value)


def _on_a_line(function: Callable[..., Tensor], x: Tensor, *parts: Any) -> Tensor:
    """Run an operator on a 0-d tensor as if it had one dimension."""
    out = function(view.reshape_op(x, (1,)), *parts, 0)
    return view.detach_from_base(view.reshape_op(out, ()))


def by_index(
    where: str,
    operator: Callable[..., Tensor],
    input: Tensor,
    dim: int,
    index: Any,
    source: Any,
) -> Tensor:
    """Check the operands of index_add and similar functions, and run the operator."""
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
        raise ShapeError(
            f"{where}: `source` has shape {src.shape}; for an input of shape {x.shape} "
            f"and {places.shape[0]} indices along dimension {axis} it must have shape "
            f"{sizes}."
        )
    try:
        return operator(x, places, src, axis)
    except KernelIndexError as error:
        raise with_range(error, x.shape[axis]) from None


def scaled_by(alpha: Any, source: Any) -> Any:
    """Return alpha * source; for booleans, whether that is not 0."""
    if alpha == 1:
        return source
    scaled = arithmetic.mul(check_tensor("index_add", source), alpha)
    return cast(scaled, dtypes.bool_) if source.dtype is dtypes.bool_ else scaled


@method("index_add")
@traced
@rounded_once
def index_add(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    source: Tensor | None = None,
    *,
    alpha: float = 1,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return `input` with alpha * source[i] added at index[i] along `dim`.

    The slices are added in their order; `index` may contain a position more than once.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a vector of int64.
    source
        The slices to add, one for each position.
    alpha
        The number by which `source` is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_add(ac.zeros(3), 0, ac.tensor([0, 0]), ac.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
    """
    scaled = scaled_by(alpha, source)
    return by_index("index_add", add_at, input, dim, index, scaled)


@method("index_copy")
@autocasts("widest")
@traced
def index_copy(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    source: Tensor | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return `input` with source[i] written at index[i] along `dim`.

    If `index` contains a position more than once, the last slice is kept.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a tensor of int64.
    source
        The slices, in the order of `index`.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_copy(ac.zeros(3), 0, ac.tensor([2]), ac.tensor([5.0]))
    tensor([0., 0., 5.])
    """
    return by_index("index_copy", index_copy_op, input, dim, index, source)


@method("index_fill")
@traced
def index_fill(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    value: Any = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Return `input` with the number `value` at the positions `index` along `dim`.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a tensor of int64.
    value
        A number, or a tensor of one element.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.index_fill(ac.zeros(3), 0, ac.tensor([1]), 7.0)
    tensor([0., 7., 0.])
    """
    x = check_tensor("index_fill", input)
    places, source = fill_operands(x, dim, index, value)
    return by_index("index_fill", index_copy_op, input, dim, places, source)


def fill_operands(x: Tensor, dim: int, index: Any, value: Any) -> tuple[Tensor, Tensor]:
    """Return the positions of index_fill, none negative, and the number at each."""
    axis = axis_of("index_fill", dim, x.ndim)
    places = indexing.long_positions("index_fill", index)
    places = _index.wrapped(places, x.shape[axis] if x.ndim else 1)
    n = places.numel()
    number = checked_number("index_fill", x, value)
    sizes = (*x.shape[:axis], n, *x.shape[axis + 1 :]) if x.ndim else (n,)
    return places, broadcasting.expand(number, sizes)


@method("scatter")
@traced
def scatter(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return `input` with `src` written at the positions `index` along `dim`.

    For ``dim=0``, ``out[index[i][j]][j] = src[i][j]``.  If a position occurs more than
    once, the last element is kept.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    index
        The positions along `dim`, integers.  In each dimension, `index` is at most as
        large as `src`, and, except in `dim`, at most as large as `input`.
    src, value
        The values: a tensor `src`, or one number `value`.
    reduce
        ``"add"`` adds the values to the elements of `input`, as `scatter_add` does;
        ``"multiply"`` multiplies them and has no gradient.
    dim
        The dimension; a negative one counts from the end.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If `reduce` is neither ``"add"`` nor ``"multiply"``.

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
    return along("scatter", operator, x, dim, index, what)


@method("scatter_add")
@traced
def scatter_add(
    input: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    src: Tensor | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return `input` with `src` added at the positions `index` along `dim`.

    For ``dim=0``, it computes ``out[index[i][j]][j] += src[i][j]``, in the order of
    `src`.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        The positions along `dim`, a tensor of int64.
    src
        The values; in each dimension, at least as many as `index` has.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.scatter_add(ac.zeros(3), 0, ac.tensor([0, 0]), ac.tensor([1.0, 2.0]))
    tensor([3., 0., 0.])
    """
    x, what = check_tensor("scatter_add", input), check_tensor("scatter_add", src)
    return along("scatter_add", add_along, x, dim, index, what)


def along(
    where: str,
    operator: Callable[..., Tensor],
    x: Tensor,
    dim: int,
    index: Any,
    src: Tensor,
) -> Tensor:
    """Check the operands of scatter and scatter_add, and run the operator."""
    ndim = x._array.ndim
    axis = axis_of(where, dim, ndim)
    places = indexing.as_positions(where, index)
    same_dtype(where, x, src)
    x, places, src = together(x, places, src)
    if places._array.size == 0:
        return _nowhere(operator, x, places, src)
    if ndim == 0:
        line = (view.reshape_op(t, (-1,)) for t in (places, src))
        return _on_a_line(operator, x, *line)
    sizes, given = places._array.shape, src._array.shape
    if not sizes or not given:
        sizes, given = sizes or (1,), given or (1,)
        places, src = view.reshape_op(places, sizes), view.reshape_op(src, given)
    part = indexing.window(where, x, sizes, axis)
    if given != sizes:
        src = _leading_part(where, src, sizes)
    try:
        out = operator(part, places, src, axis)
    except KernelIndexError as error:
        raise with_range(error, x._array.shape[axis]) from None
    if part is x:
        return out
    whole = view.clone_op(x)
    _writing.copy_(indexing.window(where, whole, sizes, axis), out)
    return whole


def _nowhere(
    operator: Callable[..., Tensor], x: Tensor, places: Tensor, src: Tensor
) -> Tensor:
    """Run an operator with an empty index, whose shape need not fit that of `x`."""
    line, places, src = (view.reshape_op(t, (t._array.size,)) for t in (x, places, src))
    out = operator(line, places, slicing.slice_op(src, (slice(0, 0),)), 0)
    return view.detach_from_base(view.reshape_op(out, x._array.shape))


def _leading_part(where: str, src: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """Return the part of `src` that an index of shape `sizes` uses."""
    given = src._array.shape
    if len(given) != len(sizes) or any(map(gt, sizes, given)):
        raise ShapeError(
            f"{where}: `index` has shape {sizes} and `src` has shape {given}; `src` "
            "must be at least as large in every dimension."
        )
    return slicing.slice_op(src, tuple([slice(0, n) for n in sizes]))
