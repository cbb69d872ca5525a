# SPDX-License-Identifier: MIT
"""Writes at indices and at masks, in the memory of the tensor where possible.

If no graph needs the old values, a kernel writes only the selected elements.  A tensor
with other strides, or with a history, takes over the result of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.addresses import repeats
from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.arguments import NeededDim, axis_of, check_tensor
from autocalc._ops._operator.coerce import Number, checked_number
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import base_of
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.in_place._index_writers import Writer, write_at
from autocalc._ops.in_place._inplace import apply_
from autocalc._ops.in_place.index_put import put_into
from autocalc._ops.indexing import indexing, masking, scattering
from autocalc._ops.indexing._index import (
    fitting,
    part_of,
    plain_index,
    sole_pick,
    split_index,
)
from autocalc._ops.views._writing import (
    check_writable,
    copy_into,
    fill_,
    fill_array,
    give_tangent,
)
from autocalc._ops.views.broadcasting import expand
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ShapeError

#: Maps the `reduce` argument of `scatter_` to an operator.
_SCATTERS = {
    None: scattering.scatter_op,
    "add": scattering.scatter_add_op,
    "multiply": scattering.scatter_mul_op,
}

#: Operators whose rules need neither the old values nor the result.
_OPERATORS = {
    "index_add": scattering.index_add_op,
    "index_copy": scattering.index_copy_op,
}


def _by_index(
    function: Callable[..., Tensor], x: Tensor, dim: int, index: Any, source: Any
) -> Tensor:
    name = function.__name__

    def run(write: Writer, x: Tensor) -> Tensor:
        return scattering.by_index(name, write, x, dim, index, source)

    if write_at(f"{name}_", _OPERATORS[name], x, (index, source), run):
        return x
    return apply_(function, f"{name}_", x, dim, index, source)


@method("index_add_")
@traced
def index_add_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    source: Tensor | None = None,
    *,
    alpha: float = 1,
    axis: Any = None,
) -> Tensor:
    """Add alpha * source at `index` along `dim`, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(3)
    >>> x.index_add_(0, ac.tensor([0, 2, 2]), ac.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])
    """
    scaled = scattering.scaled_by(alpha, source)
    return _by_index(scattering.index_add, x, dim, index, scaled)


@method("index_copy_")
@traced
def index_copy_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    source: Tensor | None = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Write `source` at `index` along `dim`, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(3)
    >>> x.index_copy_(0, ac.tensor([2, 0]), ac.tensor([1.0, 2.0]))
    tensor([2., 0., 1.])
    """
    return _by_index(scattering.index_copy, x, dim, index, source)


@method("index_fill_")
@traced
def index_fill_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    value: Any = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Write a number at `index` along `dim`, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(3).index_fill_(0, ac.tensor([1]), 7.0)
    tensor([0., 7., 0.])
    """
    check_tensor("index_fill_", x)
    places, source = scattering.fill_operands(x, dim, index, value)

    def run(write: Writer, x: Tensor) -> Tensor:
        return scattering.by_index("index_fill", write, x, dim, places, source)

    if write_at("index_fill_", scattering.index_copy_op, x, (places, source), run):
        return x
    return apply_(scattering.index_fill, "index_fill_", x, dim, index, value)


def _scatter_along(
    name: str, operator: Any, x: Tensor, dim: int, index: Any, src: Any
) -> bool:
    """Write at an index with as many dimensions as `x`; return whether that worked."""
    if not isinstance(index, Tensor) or index.ndim != x.ndim or not index.numel():
        return False
    axis = axis_of(name, dim, x.ndim)
    if not isinstance(src, Tensor):
        number = checked_number(name, x, src)
        src = expand(number, indexing.as_positions(name, index).shape)
    check_writable(f"{name}_", x, src)
    part = indexing.window(name, x, index.shape, axis)

    def run(write: Writer, x: Tensor) -> Tensor:
        return scattering.along(name, write, x, axis, index, src)

    return write_at(f"{name}_", operator, part, (index, src), run)


@method("scatter_")
@traced
def scatter_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
    axis: Any = None,
) -> Tensor:
    """Write `src` or `value` at `index` along `dim`, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(2, 3)
    >>> x.scatter_(1, ac.tensor([[0], [2]]), 1.0)
    tensor([[1., 0., 0.],
            [0., 0., 1.]])
    """
    given = value if src is None else src
    check_tensor("scatter_", x)
    operator = _SCATTERS.get(reduce)
    if operator and _scatter_along("scatter", operator, x, dim, index, given):
        return x
    return apply_(scattering.scatter, "scatter_", x, dim, index, given, reduce=reduce)


@method("scatter_add_")
@traced
def scatter_add_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    src: Tensor | None = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Add `src` at `index` along `dim`, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(3)
    >>> x.scatter_add_(0, ac.tensor([0, 2, 2]), ac.tensor([1.0, 2.0, 3.0]))
    tensor([1., 0., 5.])
    """
    check_tensor("scatter_add_", x)
    operator = scattering.scatter_add_op
    if isinstance(src, Tensor) and _scatter_along(
        "scatter_add", operator, x, dim, index, src
    ):
        return x
    return apply_(scattering.scatter_add, "scatter_add_", x, dim, index, src)


@method("masked_fill_")
@traced(light=True)
def masked_fill_(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Write a number where `mask` is True, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, -2.0, 3.0])
    >>> x.masked_fill_(x < 0, 0.0)
    tensor([1., 0., 3.])
    """
    recorded = check_writable("masked_fill_", x, value)
    if recorded or not isinstance(mask, Tensor):
        return apply_(masking.masked_fill, "masked_fill_", x, mask, value)
    holds = masking.checked_mask("masked_fill", mask)._array
    given = checked_number("masked_fill", x, value)
    if given._array.__class__ is DeviceArray:
        give_tangent(x, given)
    a, number = x._array, given._array
    shape = a.shape
    fits = holds.shape == shape
    fits = fits or broadcast_shapes("masked_fill", shape, holds.shape) == shape
    shared = isinstance(value, Tensor) and arrays.may_overlap(a, number)
    if not fits or shared or arrays.may_overlap(a, holds):
        return apply_(masking.masked_fill, "masked_fill_", x, mask, value)
    arrays.where(holds, number, a, into=a)
    x._bump()
    return x


@method("__setitem__")
def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write `value` into ``self[index]``, in place."""
    plain = plain_index(index)
    if plain is not None:
        _write_part(x, plain, value)
    else:
        _write_picked(x, index, value)


@traced(writes=True, light=True)
def _write_part(x: Tensor, index: Any, value: Any) -> None:
    """Write a number or a tensor into the view that a plain index makes."""
    if not _fill_plainly(x, index, value):
        _write_picked(x, index, value)


def _write_picked(x: Tensor, index: Any, value: Any) -> None:
    where = "index assignment"
    sole = sole_pick(check_tensor("index", x), index)
    basic, picks = ((), sole) if sole is not None else split_index(x, index)
    part = part_of(x, basic) if sole is None else x
    if not isinstance(value, (Tensor, *Number)):
        value = tensor(value, dtype=x.dtype, device=place_of_tensor(x))
    if picks:
        put_into(where, part, picks, value, False)
    elif not isinstance(value, Tensor):
        fill_(part, value)
    elif not _same_memory(part, value):
        copy_into(part, fitting(where, value, part.shape), where)


def _fill_plainly(x: Tensor, index: tuple[Any, ...], value: Any) -> bool:
    """Write a number into a part of `x` without a history; return whether it did."""
    number = value.__class__ is float or value.__class__ is int
    if not number or x.__class__ is not Tensor or x._edge is not None:
        return False
    if base_of(x)._edge is not None:
        return False
    try:
        part = x._array[index]
    except IndexError:
        return False
    if not part.flags.writeable or (not part.flags.c_contiguous and repeats(part)):
        return False
    fill_array(part, value)
    x._bump()
    return True


def _same_memory(x: Tensor, y: Tensor) -> bool:
    """Return whether both are the same view, as at the end of ``x[0] *= 2``."""
    a, b = x._array, y._array
    if base_of(x) is not base_of(y) or a.dtype is not b.dtype:
        return False
    same = a.shape == b.shape and a.strides == b.strides
    return same and x.data_ptr() == y.data_ptr()


@method("fill_diagonal_")
@declared
def fill_diagonal_(x: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number into the diagonal, in place; return the tensor.

    With `wrap`, the diagonal of a tall matrix with n columns starts again every n + 1
    rows.  If the tensor has more than two dimensions, all sizes must be equal.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.zeros(2, 3).fill_diagonal_(5.0)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    """
    shape = check_tensor("fill_diagonal_", x).shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ShapeError(
            f"fill_diagonal_: the tensor has shape {shape}; it needs two dimensions, "
            "or more dimensions of equal size."
        )
    value = checked_number("fill_diagonal_", x, fill_value)
    rows = list(range(min(shape)))
    if wrap and len(shape) == 2:
        width = shape[1]
        rows = [i for i in range(shape[0]) if i % (width + 1) < width]
    first = tensor(rows, dtype=dtypes.int64)
    columns = [i % (shape[1] + 1) for i in rows]
    others = [tensor(columns, dtype=dtypes.int64)] * (len(shape) - 1)
    place: Any = (first, *others)
    x[place] = value
    return x
