# SPDX-License-Identifier: MIT
"""Sorted values and their order: sort, topk, median."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.indexing import indexing
from autocalc._ops.indexing._mask_indices import true_places
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.reductions._values_and_indices import picked
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, DTypeError

argsort_op = nary("argsort", differentiable=False)


class Ordered(NamedTuple):
    """Values along a dimension and their indices."""

    values: Tensor
    indices: Tensor


@method("argsort")
@traced
def argsort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool = False,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return the indices that sort `input` along `dim`, with a stable sort.

    NaN counts as the largest element.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension along which elements are sorted.
    descending
        True to sort from the largest to the smallest.
    stable
        Accepted so that programs for PyTorch run; it has no effect, because equal
        elements always keep their order.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.argsort(ac.tensor([3.0, 1.0, 2.0]))
    tensor([1, 2, 0])
    """
    x = check_tensor("argsort", input)
    ndim = x._array.ndim
    axis = axis_of("argsort", dim, ndim)
    if ndim == 0:
        return arithmetic.mul(cast(comparison.truth(x), dtypes.int64), 0)
    return argsort_op(x, axis, descending)


@method("sort")
@traced
def sort(
    input: Tensor,
    dim: int = -1,
    descending: bool = False,
    *,
    stable: bool | None = False,
    out: tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
) -> Ordered:
    """Return the sorted elements along `dim` and their indices, with a stable sort.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    descending
        True to sort from the largest to the smallest.
    stable
        It has no effect: equal elements always keep their order.
    out
        Two tensors to write the values and the indices into.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sort(ac.tensor([3, 1, 2])).values
    tensor([1, 2, 3])
    """
    a = check_tensor("sort", input)._array
    axis = axis_of("sort", dim, a.ndim)
    if a.ndim == 0:
        found = Ordered(view.clone(input), argsort(input))
    else:
        order = arrays.argsort(a, axis, descending)
        found = Ordered(*picked(input, order, axis))
    return found


@method("msort")
@declared
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return `input` sorted along its first dimension.

    Parameters
    ----------
    input
        The input tensor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.msort(ac.tensor([3.0, 1.0, 2.0]))
    tensor([1., 2., 3.])
    """
    return sort(input, 0).values


def _ordered(where: str, x: Any) -> Tensor:
    """Return a tensor whose elements can be ordered: numbers, not booleans."""
    if check_tensor(where, x)._array.dtype.kind == "b":
        message = (
            f"{where}: a tensor of bool cannot be ordered; convert it with .int()."
        )
        raise DTypeError(message)
    return x  # type: ignore[no-any-return]  # checked


@method("topk")
@traced
def topk(
    input: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    out: tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
) -> Ordered:
    """Return the `k` largest or smallest elements along `dim`, as (values, indices).

    Parameters
    ----------
    input
        The input tensor.
    k
        The number of elements.
    dim
        The dimension; a negative one counts from the end.
    largest
        True for the largest elements, False for the smallest.
    sorted
        It has no effect: the elements are always sorted.
    out
        Two tensors to write the values and the indices into.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If there are fewer than `k` elements along `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> values, indices = ac.topk(ac.tensor([3.0, 1.0, 2.0]), 2)
    >>> values, indices
    (tensor([3., 2.]), tensor([0, 2]))
    """
    x = _ordered("topk", input)
    a = x._array
    axis = axis_of("topk", dim, a.ndim)
    size = a.shape[axis] if a.ndim else 1
    k = as_int("topk", "k", k)
    if not 0 <= k <= size:
        raise ArgumentError(
            f"topk: `k` is {k} for {size} elements along dimension {axis} of shape "
            f"{x.shape}; it must be between 0 and {size}."
        )
    if x.ndim == 0:
        return Ordered(view.clone(x), argsort(x))
    return Ordered(*picked(x, _first(a, axis, k, largest), axis))


def _first(a: Any, axis: int, k: int, descending: bool) -> Any:
    """Return the first k indices that sort an array; integers are sorted completely."""
    if a.dtype.kind == "f":
        return arrays.argtopk(a, axis, k, descending)
    order = arrays.argsort(a, axis, descending)
    return arrays.copy(arrays.slice(order, (*(slice(None),) * axis, slice(0, k))))


@method("kthvalue")
@traced
def kthvalue(
    input: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
    *,
    out: Any = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Ordered:
    """Return the `k`-th smallest element along `dim`, as (values, indices).

    Parameters
    ----------
    input
        The input tensor.
    k
        The rank of the element: 1 is the smallest.
    dim
        The dimension; a negative one counts from the end.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ArgumentError
        If `k` is not between 1 and the size of `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> value, index = ac.kthvalue(ac.tensor([3.0, 1.0, 2.0]), 2)
    >>> value.item(), index.item()
    (2.0, 2)
    """
    x = check_tensor("kthvalue", input)
    x = _ordered("kthvalue", x) if x.ndim else x
    axis = axis_of("kthvalue", dim, x.ndim)
    size = x.shape[axis] if x.ndim else 1
    k = as_int("kthvalue", "k", k)
    if size == 0:
        extrema.check_line("kthvalue", x, axis, what="value")
    if not 1 <= k <= size:
        raise ArgumentError(
            f"kthvalue: `k` is {k} for {size} elements along dimension {dim} of shape "
            f"{x.shape}; it must be between 1 and {size}."
        )
    if x.ndim == 0:
        return Ordered(view.clone(x), argsort(x))
    order = _first(x._array, axis, k, False)
    place = (*(slice(None),) * axis, slice(k - 1, k))
    return Ordered(*picked(x, arrays.copy(order[place]), axis, keepdim))


@method("median")
@traced
def median(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor | Ordered:
    """Return the median; with `dim`, the named tuple (values, indices).

    If two elements are in the middle, the median is the smaller one.  The median is NaN
    if an element is NaN. Without `dim`, all elements that equal the median share its
    gradient, and the median of an empty tensor is NaN.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; by default the median of all elements is returned.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ShapeError
        If `dim` has no elements, or if an integer tensor has no elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.median(ac.tensor([3.0, 1.0, 2.0]))
    tensor(2.)
    """
    return _median("median", input, dim, keepdim, _median_places)


@method("nanmedian")
@traced
def nanmedian(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor | Ordered:
    """Return the median of the elements that are not NaN; see `median`.

    With `dim`, it returns the named tuple (values, indices).  The result is NaN only
    where every element is NaN, or there are no elements.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; by default, the median of all elements is returned.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ShapeError
        If there is no element along `dim`, or if an integer tensor has no elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nanmedian(ac.tensor([3.0, ac.nan, 1.0, 2.0]))
    tensor(2.)
    """
    return _median("nanmedian", input, dim, keepdim, _nanmedian_places)


def _median(
    where: str,
    input: Tensor,
    dim: int | None,
    keepdim: bool,
    places: Callable[[Any, int], Any],
) -> Tensor | Ordered:
    """Return the median at `places`, of all elements or along `dim`."""
    x = _ordered(where, input)
    a = x._array
    if dim is None:
        return _median_of_all(where, x, places)
    axis = axis_of(where, dim, a.ndim)
    if a.ndim == 0:
        return Ordered(view.clone(x), argsort(x))
    extrema.check_line(where, x, axis, what="median")
    return Ordered(*picked(x, places(a, axis), axis, keepdim))


def _median_of_all(where: str, x: Tensor, places: Callable[[Any, int], Any]) -> Tensor:
    """Return the median; all elements equal to it share its gradient.

    The median of an empty tensor is NaN, like the mean; integers have no NaN.
    """
    a = x._array
    if a.size == 0 and a.dtype.kind in FLOAT_KINDS:
        return reduction.mean(x)
    extrema.check_line(where, a, *range(a.ndim), what="median")
    a = arrays.reshape(a, (a.size,))
    found = arrays.gather(a, places(a, 0), 0)
    if not x.requires_grad:
        return make(found.reshape(()), None)
    same = arrays.compare(a, found, "eq")
    if a.__class__ is DeviceArray:
        return _median_of_each(x, found, same)
    if comparison.isnan(make(found, None)).item():
        same = arrays.compare(a, a, "ne")
    line = view.reshape_op(x, (-1,))
    equal = indexing.index_select_op(line, make(true_places(same), None), 0)
    return extrema.max(equal)  # type: ignore[return-value]  # one tensor without `dim`


def _median_of_each(x: Tensor, found: Any, same: Any) -> Tensor:
    """Return medians whose gradient goes to equal elements, by a mask.

    The examples of `vmap` can have different numbers of them.
    """
    line = view.reshape_op(x, (-1,))
    missing = arrays.compare(line._array, line._array, "ne")
    mask = arrays.where(arrays.compare(found, found, "ne"), missing, same)
    share = cast(make(mask, None), x.dtype)
    total = reduction.sum(arithmetic.mul(line, share))
    mean = arithmetic.div(total, reduction.sum(share))
    exact = make(found.reshape(()), None)
    return arithmetic.add(exact, arithmetic.sub(mean, mean.detach()))


def _median_places(a: Any, axis: int) -> Any:
    """Find the middle of the order, or the first NaN, which sorts after all numbers."""
    n = a.shape[axis]
    order = arrays.argsort(a, axis, False)
    if a.dtype.kind not in FLOAT_KINDS:
        middle = (*(slice(None),) * axis, slice((n - 1) // 2, (n + 1) // 2))
        return arrays.copy(order[middle])
    bad = _count_nan(a, axis)
    kind = bad.dtype
    some = arrays.compare(bad, constant(0, kind), "gt")
    first = arrays.sub(constant(n, kind), bad)
    place = arrays.where(some, first, constant((n - 1) // 2, kind))
    return arrays.gather(order, place, axis)


def _nanmedian_places(a: Any, axis: int) -> Any:
    """Find the middle of the numbers before the NaN; without any, the first NaN."""
    order = arrays.argsort(a, axis, False)
    bad = _count_nan(a, axis)
    kind = bad.dtype
    last = arrays.sub(constant(a.shape[axis] - 1, kind), bad)
    middle = arrays.floor_divide(last, constant(2, kind))
    return arrays.gather(order, arrays.maximum(middle, constant(0, kind)), axis)


def _count_nan(a: Any, axis: int) -> Any:
    return arrays.sum(arrays.compare(a, a, "ne"), (axis,), True)
