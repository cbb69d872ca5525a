# SPDX-License-Identifier: MIT
"""Operators that repeat, roll, flip and turn tensors; grids and combinations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import recordings, refuse_reading
from autocalc._ops._operator.arguments import (
    Dims,
    as_int,
    axes_of,
    axis_of,
    check_tensor,
    integers,
    sizes_given,
    sizes_of,
)
from autocalc._ops._operator.checks import check_shape
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.arranging import joining
from autocalc._ops.indexing import indexing as indexing_ops
from autocalc._ops.views import broadcasting, slicing, view
from autocalc._ops.views.conversion import laid_as
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, DimensionError, ShapeError


@method("repeat")
@traced
def repeat(input: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """Return `input` repeated `repeats[i]` times along each dimension i.

    If there are more repeats than dimensions, new dimensions are added in front.

    Parameters
    ----------
    input
        The input tensor.
    *sizes
        The number of repetitions of each dimension, as separate arguments or as one
        sequence.
    repeats
        The same numbers as a keyword argument: one sequence.

    Raises
    ------
    ShapeError
        If there are fewer repeats than dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    given = sizes_given("repeat", sizes, repeats)
    x, times = check_tensor("repeat", input), sizes_of("repeat", (given,))
    shape = x._array.shape
    if len(times) < len(shape):
        raise ShapeError(
            f"repeat: {len(times)} numbers of repeats, {times}, were given for a "
            f"tensor of shape {x.shape}; there must be at least one for each dimension."
        )
    return _spread(x, *_repeated(shape, times))


@lru_cache(1024)
def _repeated(
    shape: tuple[int, ...], times: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the three shapes that `_spread` takes: single, repeated and merged."""
    sizes = (*(1,) * (len(times) - len(shape)), *shape)
    single = tuple(m for n in sizes for m in (1, n))
    many = tuple(m for pair in zip(times, sizes, strict=True) for m in pair)
    return single, many, tuple(r * n for r, n in zip(times, sizes, strict=True))


def _spread(
    x: Tensor, apart: tuple[int, ...], many: tuple[int, ...], together: tuple[int, ...]
) -> Tensor:
    """Return a copy of `x`, reshaped to `apart`, expanded to `many` and merged."""
    if x._edge is None:
        spread = arrays.expand(arrays.reshape(x._array, apart), many)
        return make(arrays.copy(spread).reshape(together), None)
    copied = view.clone_op(broadcasting.expand_op(view.reshape_op(x, apart), many))
    return view.detach_from_base(view.reshape_op(copied, together))


@traced(light=True)
def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return `input` repeated along its dimensions; missing repeats are taken as 1.

    Parameters
    ----------
    input
        The input tensor.
    dims
        The number of repetitions of each dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tile(ac.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    """
    x = check_tensor("tile", input)
    times = sizes_of("tile", (integers("tile", "dims", dims),))
    shape = x._array.shape
    times = (*(1,) * (len(shape) - len(times)), *times)
    return _spread(x, *_repeated(shape, times))


@method("repeat_interleave")
@traced
def repeat_interleave(
    input: Tensor,
    repeats: int | Tensor | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
    axis: Any = None,
) -> Tensor:
    """Return each element, or each slice along `dim`, repeated directly after itself.

    Parameters
    ----------
    input
        A tensor of any shape; it is flattened if `dim` is None. If `input` is the only
        argument, it is taken as `repeats`, and the result holds the index of the
        element that each repetition belongs to.
    repeats
        The number of repetitions: one number for all, or a tensor with one number for
        each slice along `dim`.
    dim
        The dimension whose slices are repeated.
    output_size
        The sum of `repeats`, if you know it; a wrong number raises an error.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If the number of `repeats` differs from the size of `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.repeat_interleave(ac.tensor([7, 8, 9]), ac.tensor([2, 0, 1]))
    tensor([7, 7, 9])
    """
    x = check_tensor("repeat_interleave", input)
    if repeats is None:
        counts = indexing_ops.as_positions("repeat_interleave", x)
        return cast(_repetitions(counts, output_size), x.dtype)
    if dim is None:
        x, dim = x if x._array.ndim == 1 else view.flatten(x), 0
    shape = x._array.shape
    axis = axis_of("repeat_interleave", dim, len(shape))
    n = shape[axis]
    if isinstance(repeats, Tensor):
        counts = indexing_ops.as_positions("repeat_interleave", repeats)
        repeats = counts.item() if counts.numel() == 1 else repeats
    if isinstance(repeats, Tensor):
        if counts.shape != (n,):
            raise ShapeError(
                f"repeat_interleave: `repeats` has shape {counts.shape} for dimension "
                f"{axis} of size {n}; it must be ({n},)."
            )
        return indexing_ops.index_select_op(x, _repetitions(counts, output_size), axis)
    times = as_int("repeat_interleave", "repeats", repeats)
    sizes_of("repeat_interleave", (times,))
    before, behind = shape[: axis + 1], shape[axis + 1 :]
    together = (*shape[:axis], n * times, *behind)
    return _spread(x, (*before, 1, *behind), (*before, times, *behind), together)


def _repetitions(counts: Tensor, size: int | None) -> Tensor:
    """Return a vector that holds each i exactly counts[i] times."""
    check_shape("repeat_interleave", "repeats", counts, "a vector")
    if recordings:
        refuse_reading("repeat_interleave, whose shape depends on values")
    a = counts._array
    n = a.shape[0]
    ends = arrays.cumsum(a, 0)
    length = int(ends[-1]) if n else 0
    if n and int(arrays.min(a, (0,))) < 0:
        message = (
            f"repeat_interleave: `repeats` holds {int(arrays.min(a, (0,)))}; it must "
            "hold numbers of 0 or more."
        )
        raise ArgumentError(message)
    if size is not None and size != length:
        raise ArgumentError(
            f"repeat_interleave: `output_size`={size}, but the sum of `repeats` is "
            f"{length}."
        )
    # Add 1 at each place where the next number begins; some begin after the last place.
    steps = arrays.zeros((length + 1,), a.dtype)
    if n > 1:
        ones = arrays.full((n - 1,), 1, a.dtype)
        steps = arrays.scatter_add(steps, arrays.slice(ends, (slice(0, -1),)), ones, 0)
    return make(arrays.cumsum(arrays.slice(steps, (slice(0, length),)), 0), None)


@method("roll")
@traced(light=True)
def roll(input: Tensor, shifts: Dims, dims: Dims = None) -> Tensor:
    """Return `input` with its elements moved along dimensions, in a circle.

    An element that is moved beyond the end comes back at the beginning.

    Parameters
    ----------
    input
        The input tensor.
    shifts
        The number of positions to move: one number, or one for each of `dims`.
    dims
        The dimensions; by default the tensor is treated as one flat vector.

    Raises
    ------
    ArgumentError
        If the numbers of `shifts` and `dims` differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.roll(ac.tensor([1, 2, 3]), 1)
    tensor([3, 1, 2])
    """
    x = check_tensor("roll", input)
    by = integers("roll", "shifts", shifts)
    axes = () if dims is None else integers("roll", "dims", dims)
    if not axes:
        if len(by) != 1:
            raise ArgumentError(
                f"roll: `shifts`={by} without `dims`: one number is required, or as "
                "many numbers in `shifts` as in `dims`."
            )
        if x._array.ndim == 1:
            return _rolled(x, by[0], 0)
        flat = _rolled(view.reshape_op(x, (-1,)), by[0], 0)
        return view.detach_from_base(view.reshape_op(flat, x._array.shape))
    if len(axes) != len(by):
        raise ArgumentError(
            f"roll: shifts and dimensions must align: `shifts`={by} and `dims`={axes} "
            "are required to have equally many numbers."
        )
    if x.ndim == 0:
        raise DimensionError(
            f"roll: `dims`={axes} was given for a tensor without dimensions; do not "
            "give `dims`."
        )
    for shift, dim in zip(by, axes, strict=True):
        x = _rolled(x, shift, axis_of("roll", dim, x.ndim))
    return laid_as(input, x)


def _rolled(x: Tensor, shift: int, axis: int) -> Tensor:
    a = x._array
    n = a.shape[axis]
    cut = -as_int("roll", "shifts", shift) % n if n else 0
    if cut == 0:
        return view.clone_op(x)
    lead = (slice(None),) * axis
    head, tail = (*lead, slice(cut, None)), (*lead, slice(0, cut))
    if x._edge is None:
        return make(arrays.cat((a[head], a[tail]), axis), None)
    both = slicing.slice_op(x, head), slicing.slice_op(x, tail)
    return joining.cat_op(both, axis)


@traced
def flip(input: Tensor, dims: Dims) -> Tensor:
    """Return a copy of `input` with the order along each of `dims` reversed.

    Parameters
    ----------
    input
        The input tensor.
    dims
        The dimensions whose order is reversed.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.flip(ac.tensor([1, 2, 3]), (0,))
    tensor([3, 2, 1])
    """
    x = check_tensor("flip", input)
    dims = integers("flip", "dims", dims)
    if len(dims) == 1 and x._array.ndim:
        axes: tuple[int, ...] = (axis_of("flip", dims[0], x._array.ndim),)
    else:
        axes = axes_of("flip", x, dims) if dims else ()
    if not axes:
        return view.clone_op(x)
    for axis in axes:
        n = x._array.shape[axis]
        back = _kept_places(n) if n <= _KEPT else _places_back(n)
        places = make(arrays.near(x._array, back), None)
        x = indexing_ops.index_select_op(x, places, axis)
    return laid_as(input, x)


#: The reversed places of up to this many elements are cached.
_KEPT = 4096


def _places_back(n: int) -> Any:
    """Return the numbers n - 1, n - 2, ..., 0 as an array."""
    places = arrays.arange(n, arrays.empty((), dtypes.int64.numpy))
    return arrays.frozen(arrays.sub(constant(n - 1, places.dtype), places))


_kept_places = lru_cache(64)(_places_back)


@method("fliplr")
def fliplr(input: Tensor) -> Tensor:
    """Return `input` with the order along the second dimension reversed.

    Parameters
    ----------
    input
        The input tensor, of two dimensions or more.

    Raises
    ------
    DimensionError
        If `input` has fewer than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.fliplr(ac.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    if check_tensor("fliplr", input).ndim < 2:
        raise DimensionError(
            "fliplr: Input must be >= 2-d. A tensor of shape "
            f"{input.shape} has no second dimension that can be reversed."
        )
    return flip(input, 1)


@method("flipud")
def flipud(input: Tensor) -> Tensor:
    """Return `input` with the order along the first dimension reversed.

    Parameters
    ----------
    input
        The input tensor, of one dimension or more.

    Raises
    ------
    ShapeError
        If `input` has no dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.flipud(ac.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
    """
    where = "flipud"
    if not check_tensor(where, input).ndim:
        raise ShapeError(
            f"{where}: Input must be >= 1-d. A tensor without dimensions has no rows "
            f"that can be reversed."
        )
    return flip(input, 0)


@method("rot90")
def rot90(input: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Return `input` rotated `k` times by 90 degrees, from dims[0] towards dims[1].

    Parameters
    ----------
    input
        The input tensor.
    k
        The number of quarter turns.
    dims
        The two dimensions that form the plane of the rotation.

    Raises
    ------
    DimensionError
        If `dims` are not two different dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rot90(ac.tensor([[1, 2], [3, 4]])).tolist()
    [[2, 4], [1, 3]]
    """
    reversed_ = _reversed_for_turn(input, k, dims)
    return view.transpose(reversed_, *dims) if k % 2 else reversed_


@traced
def _reversed_for_turn(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """Return the flipped tensor that `rot90` then transposes.

    The flip comes first, while the rows are contiguous.
    """
    x, plane = check_tensor("rot90", input), integers("rot90", "dims", dims)
    ndim = x._array.ndim
    axes = [axis_of("rot90", d, ndim) for d in plane]
    if len(axes) != 2 or axes[0] == axes[1] or ndim < 2:
        raise DimensionError(
            f"rot90: `dims`={plane} for a tensor of shape {x.shape}; they must be two "
            "different dimensions."
        )
    turns = as_int("rot90", "k", k) % 4
    if turns == 2:
        return flip(x, axes)
    if turns == 0:
        return view.clone(x)
    return flip(x, [axes[1 if turns == 1 else 0]])


@traced
def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Return coordinate grids: grid i is vector i, repeated along all other dimensions.

    With ``indexing="xy"`` the first two dimensions of each grid are exchanged.

    Parameters
    ----------
    *tensors
        The vectors, as separate arguments.
    indexing
        "ij" to place the first vector along the rows of the grid, "xy" to place it
        along the columns.

    Raises
    ------
    ArgumentError
        If `indexing` is neither "ij" nor "xy".
    ShapeError
        If a tensor is not a vector, or the dtypes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> rows, columns = ac.meshgrid(ac.arange(2), ac.arange(3))
    >>> columns
    tensor([[0, 1, 2],
            [0, 1, 2]])
    """
    many = broadcasting.tensors_given("meshgrid", tensors)
    if indexing not in ("ij", "xy"):
        raise ArgumentError(
            f'meshgrid: indexing must be one of "xy" or "ij", not {indexing!r}.'
        )
    lines = [x._array for x in many]
    if any(a.ndim > 1 for a in lines) or len({x.dtype for x in many}) > 1:
        given = ", ".join(f"{x.dtype.name} {x.shape}" for x in many)
        raise ShapeError(
            "meshgrid: Expected 0D or 1D tensor, and meshgrid expects all tensors to "
            f"have the same dtype; got {given}."
        )
    sizes = [a.size for a in lines]
    ranks = list(range(len(many)))
    if indexing == "xy" and len(many) > 1:
        sizes[:2], ranks[:2] = sizes[1::-1], [1, 0]
    shape, ones = tuple(sizes), [1] * len(many)
    grids = []
    for x, rank in zip(many, ranks, strict=True):
        line = (*ones[:rank], sizes[rank], *ones[rank + 1 :])
        grids.append(broadcasting.expand_op(view.reshape_op(x, line), shape))
    return tuple(grids)


@traced
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of one element from each vector, as rows.

    Parameters
    ----------
    *tensors
        The tensors, as separate arguments.

    Raises
    ------
    ShapeError
        If a tensor is not a vector.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cartesian_prod(ac.tensor([1, 2]), ac.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    many = [check_tensor("cartesian_prod", x) for x in tensors]
    if not many or any(x.ndim != 1 for x in many):
        found = ", ".join(str(x._array.shape) for x in many) or "nothing"
        raise ShapeError(f"cartesian_prod: got {found}; give at least one vector.")
    if len(many) == 1:
        return view.clone(many[0])
    grids = meshgrid(*many, indexing="ij")
    return joining.stack([view.reshape(grid, (-1,)) for grid in grids], 1)


@declared
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Return all combinations of `r` elements of a vector, as rows.

    Parameters
    ----------
    input
        A vector of shape [n].
    r
        The number of elements of each combination.
    with_replacement
        True to allow an element more than once.

    Raises
    ------
    ShapeError
        If `input` is not a vector.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.combinations(ac.tensor([1, 2, 3])).tolist()
    [[1, 2], [1, 3], [2, 3]]
    """
    x = check_tensor("combinations", input)
    if x.ndim != 1 or as_int("combinations", "r", r) < 0:
        raise ShapeError(
            f"combinations: `input` has shape {x.shape} and `r` is {r}; they must be a "
            "vector and a number of 0 or more."
        )
    if r == 0:
        return x.new_empty((0,))
    choose = (
        itertools.combinations_with_replacement
        if with_replacement
        else (itertools.combinations)
    )
    chosen = list(choose(range(x.shape[0]), r))
    flat = x.new_tensor([i for row in chosen for i in row], dtype=dtypes.int64)
    return view.reshape(indexing_ops.index_select(x, 0, flat), (len(chosen), r))


@method("__reversed__")
def _reversed(self: Tensor) -> Tensor:
    return flip(self, 0) if self.ndim else self


@method("tile")
def _tile_method(self: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
    """Return the tensor repeated ``sizes[i]`` times along each dimension i.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1.0, 2.0]).tile(2, 2)
    tensor([[1., 2., 1., 2.],
            [1., 2., 1., 2.]])
    """
    return tile(self, sizes_given("tile", sizes, dims))


@method("flip")
def _flip_method(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
    """Return a copy in which the order along some dimensions is reversed.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([[1.0, 2.0], [3.0, 4.0]]).flip(1)
    tensor([[2., 1.],
            [4., 3.]])
    """
    return flip(self, sizes_given("flip", axes, dims))
