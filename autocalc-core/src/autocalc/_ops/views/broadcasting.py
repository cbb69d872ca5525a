# SPDX-License-Identifier: MIT
"""Tensors broadcast to one shape or to a number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels import rules
from autocalc._ops._operator.arguments import (
    check_tensor,
    integers,
    min_of,
    sizes_given,
)
from autocalc._ops._operator.factories import view_operator
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import view_of
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.size import SIZES, Size
from autocalc.errors import ArgumentError, ShapeError


@view_operator("expand")
def expand_op(a: Any, shape: Any) -> Any:
    """Return the elements repeated to a larger shape, without a copy."""
    return arrays.expand(a, shape)


@expand_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.sum_to(g, n.shapes[0])


_EXPAND = expand_op.op


@traced(views=True)
def expand(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` repeated to a larger shape, without copying; -1 keeps a size.

    Parameters
    ----------
    input
        The input tensor.
    shape
        The new sizes; -1 keeps the size of a dimension.

    Raises
    ------
    ShapeError
        If a size of `input` is neither 1 nor the new size.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.expand(ac.tensor([[1], [2]]), (2, 3))
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    shape = integers("expand", "shape", shape)
    a = (input if input.__class__ is Tensor else check_tensor("expand", input))._array
    sizes = _expanded(a.shape, shape)
    if sizes is None:
        raise ShapeError(
            f"expand: a tensor of shape {input.shape} cannot be expanded to "
            f"{tuple(shape)}: {_misfit(a.shape, tuple(shape))}only dimensions of size "
            "1 can grow, and new dimensions must come first."
        )
    return view_of(input, arrays.expand(a, sizes), _EXPAND, (sizes,))


def _misfit(old: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return which size does not match, counted from the left; "" if too few."""
    lead = len(shape) - len(old)
    for axis, (n, m) in enumerate(zip(shape[lead:], old, strict=lead >= 0), lead):
        if m not in (1, n) and n >= 0:
            return (
                f"The expanded size of the tensor ({n}) must match the existing size "
                f"({m}) at dimension {axis}; "
            )
    return ""


@lru_cache(1024)
def _expanded(old: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return `shape` with its -1 replaced; None if `old` cannot be expanded to it."""
    lead = len(shape) - len(old)
    if lead < 0:
        return None
    ends = [m if n == -1 else n for n, m in zip(shape[lead:], old, strict=True)]
    sizes = (*shape[:lead], *ends)
    fits = all(m in (1, n) for n, m in zip(ends, old, strict=True))
    return sizes if fits and min_of(sizes) >= 0 else None


@method("broadcast_to")
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return `input` repeated to the shape `size`, without copying; see `expand`.

    Parameters
    ----------
    input
        The input tensor.
    size
        The sizes of the result, one for each dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.broadcast_to(ac.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    x = input if input.__class__ is Tensor else check_tensor("broadcast_to", input)
    return expand(x, size)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return views of all tensors, broadcast to their common shape.

    Parameters
    ----------
    *tensors
        The tensors, as separate arguments.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b = ac.broadcast_tensors(ac.ones(2, 1), ac.ones(3))
    >>> a.shape, b.shape
    (autocalc.Size([2, 3]), autocalc.Size([2, 3]))
    """
    many = tensors_given("broadcast_tensors", tensors)
    shape = rules.broadcast_shapes("broadcast_tensors", *(x.shape for x in many))
    return tuple(expand(x, shape) for x in many)


def tensors_given(where: str, tensors: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return tensors that are given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tensors[0]
    if not tensors:
        raise ArgumentError(
            f"{where}: expects a non-empty TensorList; give at least one tensor."
        )
    return tuple([
        x if x.__class__ is Tensor else check_tensor(where, x) for x in tensors
    ])  # fmt: skip


@method("expand_as")
@traced(light=True)
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` repeated to the shape of `other`, without copying.

    Parameters
    ----------
    input
        The input tensor.
    other
        The tensor whose shape the result has.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1, 2]).expand_as(ac.ones(2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(
        check_tensor("expand_as", input), check_tensor("expand_as", other)._array.shape
    )


def atleast_1d(*tensors: Any) -> Any:
    """Return the tensors with at least one dimension.

    Parameters
    ----------
    *tensors
        The tensors, as separate arguments.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.atleast_1d(ac.tensor(3.0))
    tensor([3.])
    """
    return _at_least("atleast_1d", tensors, lambda x: (1,) * (1 - x.ndim), None)


def atleast_2d(*tensors: Any) -> Any:
    """Return the tensors with at least two dimensions; vectors become rows.

    Parameters
    ----------
    *tensors
        The tensors, as separate arguments.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.atleast_2d(ac.tensor([1.0, 2.0])).shape
    autocalc.Size([1, 2])
    """
    return _at_least("atleast_2d", tensors, lambda x: (1,) * (2 - x.ndim), None)


def atleast_3d(*tensors: Any) -> Any:
    """Return the tensors with at least three dimensions.

    A matrix gets a third dimension at its end.

    Parameters
    ----------
    *tensors
        The tensors, as separate arguments.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.atleast_3d(ac.tensor([1.0, 2.0])).shape
    autocalc.Size([1, 2, 1])
    """
    return _at_least(
        "atleast_3d",
        tensors,
        lambda x: (1,) * min(2 - x.ndim, 1) if x.ndim < 2 else (),
        3,
    )


def _at_least(where: str, tensors: Any, front: Any, ndim: int | None) -> Any:
    many = tensors_given(where, tensors)
    results = []
    for x in many:
        sizes = (*front(x), *x.shape)
        sizes = (*sizes, *(1,) * ((ndim or 0) - len(sizes)))
        results.append(x if sizes == x.shape else view.reshape_op(x, sizes))
    single = len(tensors) == 1 and isinstance(tensors[0], Tensor)
    return results[0] if single else tuple(results)


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape to which tensors of the given shapes are broadcast.

    Parameters
    ----------
    *shapes
        The shapes, as separate arguments.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.broadcast_shapes((2, 1), (3,), 1)
    autocalc.Size([2, 3])
    """
    sizes = [integers("broadcast_shapes", "shapes", shape) for shape in shapes]
    return SIZES[rules.broadcast_shapes("broadcast_shapes", *sizes) if sizes else ()]


@method("expand")
@traced(views=True)
def _expand_method(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Return a view that repeats the tensor to the given sizes; -1 keeps a size.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([[1.0], [2.0]]).expand(-1, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """
    plain = sizes and sizes[0].__class__ is int and size is None
    return expand(self, sizes if plain else sizes_given("expand", sizes, size))
