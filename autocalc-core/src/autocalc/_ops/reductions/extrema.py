# SPDX-License-Identifier: MIT
"""The largest and the smallest elements over dimensions, and their positions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autocalc._dispatch.device.device import DeviceArray, agreed, is_batched, whole
from autocalc._dispatch.engine.eager import along
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import Dims, axes_of, axis_of, check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import Operator, nary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import clamping
from autocalc._ops.reductions import reduction
from autocalc._ops.reductions._values_and_indices import picked
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, DTypeError, IndexShapeError


def _reduction(name: str, *, of_all: bool = False) -> Operator:
    """Make max or min over dimensions; equal elements share g evenly.

    If the result is NaN, no element equals it.  Then all elements get NaN.  With
    `of_all`, the elements that are NaN share g instead.  PyTorch does the former in
    amax and amin, and the latter in max() and min().
    """
    operator = nary(name, saves="out a", main=not of_all)

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        y, a = n.saved
        axes, keepdim = n.attributes
        shape = n.shapes[0]
        y = reduction.spread(k, y, shape, axes, keepdim)
        mask = k.compare(a, y, "eq")
        if of_all:
            mask = k.where(k.compare(y, y, "eq"), mask, k.compare(a, a, "ne"))
        ones = k.where(mask, k.constant(1, g), k.constant(0, g))
        share = k.div(
            reduction.spread(k, g, shape, axes, keepdim), k.sum(ones, axes, True)
        )
        return k.mul(ones, share)

    return operator


max_op = _reduction("max")


min_op = _reduction("min")


_max_of_all, _min_of_all = (_reduction(name, of_all=True) for name in ("max", "min"))


class Extremum(NamedTuple):
    """The values of `max` or `min` along a dimension, and their indices."""

    values: Tensor
    indices: Tensor


def _extremum(where: str, input: Tensor, dim: int, keepdim: bool) -> Extremum:
    """Find the indices, then gather: the gradient goes to the selected element."""
    a = check_tensor(where, input)._array
    axis = axis_of(where, dim, a.ndim)
    if a.ndim == 0:
        return Extremum(view.clone(input), _place(where, a, None, False))
    check_line(where, a, axis)
    places = arrays.argmax(a if where == "max" else _reversed(a), axis, True)
    return Extremum(*picked(input, places, axis, keepdim))


@method("max")
@along(_max_of_all, most=1)
@traced
def max(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor | Extremum:
    """Return the largest element or, with `dim`, the named tuple (values, indices).

    With a second tensor instead of `dim`, it returns the elementwise `maximum`.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension that is reduced; by default, the result is the largest of all
        elements. A tensor `dim` is taken as the second operand of `maximum`.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; with `dim`, a pair of tensors.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.max(ac.tensor([1.0, 4.0, 3.0]))
    tensor(4.)
    >>> values, indices = ac.max(ac.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    >>> values, indices
    (tensor([4., 3.]), tensor([1, 0]))
    """
    if isinstance(dim, Tensor):
        return clamping.maximum(input, dim)
    if dim is None:
        _no_keepdim("max", keepdim)
        if check_tensor("max", input)._array.dtype.kind not in FLOAT_KINDS:
            return amax(input)
        return _of_all("max", _max_of_all, input)
    return _extremum("max", input, dim, keepdim)


@method("min")
@along(_min_of_all, most=1)
@traced
def min(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor | Extremum:
    """Return the smallest element or, with `dim`, the named tuple (values, indices).

    With a second tensor instead of `dim`, it returns the elementwise `minimum`.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension that is reduced; by default, the result is the smallest of all
        elements. A tensor `dim` is taken as the second operand of `minimum`.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; with `dim`, a pair of tensors.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.min(ac.tensor([1.0, 4.0, 3.0]))
    tensor(1.)
    >>> values, indices = ac.min(ac.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    >>> values, indices
    (tensor([1., 2.]), tensor([0, 1]))
    """
    if isinstance(dim, Tensor):
        return clamping.minimum(input, dim)
    if dim is None:
        _no_keepdim("min", keepdim)
        if check_tensor("min", input)._array.dtype.kind not in FLOAT_KINDS:
            return amin(input)
        return _of_all("min", _min_of_all, input)
    return _extremum("min", input, dim, keepdim)


def _of_all(where: str, operator: Operator, input: Tensor) -> Tensor:
    x = check_tensor(where, input)
    axes = tuple(range(x._array.ndim))
    if x._array.size == 0:
        check_line(where, x, *axes)
    return operator(x, axes, False)


def _no_keepdim(where: str, keepdim: bool) -> None:
    if keepdim:
        raise ArgumentError(
            f"{where}: `keepdim` needs `dim`; give `dim`, or use a{where}."
        )


class MinMax(NamedTuple):
    """The result of `aminmax`."""

    min: Tensor
    max: Tensor


@method("aminmax")
@traced
def aminmax(
    input: Tensor,
    *,
    dim: int | None = None,
    keepdim: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> MinMax:
    """Return the smallest and the largest elements over `dim`, as (min, max).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension that is reduced; by default all dimensions are reduced.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> smallest, largest = ac.aminmax(ac.tensor([1.0, 4.0, 3.0]))
    >>> smallest.item(), largest.item()
    (1.0, 4.0)
    """
    return MinMax(amin(input, dim, keepdim), amax(input, dim, keepdim))


@method("amax")
@along(max_op)
@declared
def amax(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the maximum over `dim`; all elements that equal it share its gradient.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; by default all.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ShapeError
        If there is no element to reduce.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.amax(ac.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([4., 3.])
    """
    axes = axes_of("amax", check_tensor("amax", input), dim)
    if input._array.size == 0:
        check_line("amax", input, *axes)
    return max_op(input, axes, keepdim)


@method("amin")
@along(min_op)
@declared
def amin(
    input: Tensor,
    dim: Dims = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the minimum over `dim`; all elements that equal it share its gradient.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several; all by default.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Raises
    ------
    ShapeError
        If there is no element to reduce.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.amin(ac.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([1., 2.])
    """
    axes = axes_of("amin", check_tensor("amin", input), dim)
    if input._array.size == 0:
        check_line("amin", input, *axes)
    if input.dtype is dtypes.bool_:
        return reduction.all(input, axes, keepdim)
    return min_op(input, axes, keepdim)


def check_line(where: str, x: Any, *axes: int, what: str = "extremum") -> None:
    """Raise if the dimensions hold no elements, because there is no extremum then."""
    if 0 in [x.shape[axis] for axis in axes]:
        raise IndexShapeError(
            f"{where}: Expected reduction dim {', '.join(map(str, axes))} to have "
            f"non-zero size: a tensor of shape {tuple(x.shape)} has no elements "
            f"there, so it has no {what}."
        )


argmax_op = nary("argmax", differentiable=False)


@method("argmax")
@along(argmax_op, in_tuple=False, needs_dim=True)
@declared
def argmax(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the index of the largest element, the first one if several are equal.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension; by default, the index in the flattened tensor is returned.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.argmax(ac.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([1, 0])
    """
    _no_booleans("argmax", input)
    return _place("argmax", input._array, dim, keepdim)


def _no_booleans(where: str, x: Any) -> None:
    if check_tensor(where, x)._array.dtype.kind == "b":
        raise DTypeError(
            f"{where}: many elements of a bool tensor are equal, so the position of "
            "one is not unique; convert the tensor with .int() to get the first one."
        )


def _place(where: str, a: Any, dim: int | None, keepdim: bool) -> Tensor:
    """Return the index of the largest element of an array, of all or along `dim`."""
    if dim is not None and a.ndim:
        axis = axis_of(where, dim, a.ndim)
        check_line(where, a, axis)
        return make(arrays.argmax(a, axis, keepdim), None)
    if dim is not None:
        axis_of(where, dim, 0)
    check_line(where, a, *range(a.ndim))
    line = a if a.ndim == 1 else arrays.reshape(a, (-1,))
    found = arrays.argmax(line, 0, False)
    return make(arrays.reshape(found, (1,) * a.ndim) if keepdim else found, None)


@method("argmin")
@traced
def argmin(
    input: Tensor,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return the index of the smallest element, the first one if several are equal.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension; by default, the index in the flattened tensor is returned.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.argmin(ac.tensor([[1.0, 4.0], [3.0, 2.0]]), dim=1)
    tensor([0, 1])
    """
    _no_booleans("argmin", input)
    return _place("argmin", _reversed(input._array), dim, keepdim)


def _reversed(a: Any) -> Any:
    """Return integers in reverse order.

    -1 - x reverses the order of every integer; -x overflows for one of them.
    """
    if a.dtype.kind in FLOAT_KINDS:
        return arrays.neg(a)
    if a.dtype.kind != "i":
        a = arrays.cast(a, dtypes.int16.numpy)
    return arrays.sub(arrays.constant(-1, a), a)


def holds(x: Tensor) -> bool:
    """Return the truth value of a tensor, in which all examples of `vmap` agree."""
    return bool(agreed(x._array) if is_batched(x._array.dtype) else x)


def ends(x: Tensor) -> tuple[Any, Any]:
    """Return the smallest and the largest element as numbers, of all examples.

    They are NaN if `vmap` maps over no examples.
    """
    if x._array.__class__ is DeviceArray:
        x = make(whole(x._array), None)
        if not x.numel():
            return math.nan, math.nan
    least, most = _ends(x)
    return least.item(), most.item()


@traced
def _ends(x: Tensor) -> tuple[Tensor, Tensor]:
    return amin(x), amax(x)
