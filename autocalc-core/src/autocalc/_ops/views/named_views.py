# SPDX-License-Identifier: MIT
"""Views that are other names for operations of `view`, or combine several of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from autocalc._ops._operator.arguments import axis_of, check_tensor, integers
from autocalc._ops._operator.method import method
from autocalc._ops._operator.numpy_names import dim_or_axis
from autocalc._ops._operator.traced import traced
from autocalc._ops.views.view import flatten, reshape, reshape_op, transpose, view
from autocalc._tensor import Tensor
from autocalc.errors import ShapeError


@method("ravel")
def ravel(input: Tensor) -> Tensor:
    """Return `input` flattened to one dimension.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ravel(ac.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    return flatten(check_tensor("ravel", input))


@method("unflatten")
@traced(light=True, declares=False)
def unflatten(
    input: Tensor,
    dim: int | None = None,
    sizes: Sequence[int] | None = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Return a view of `input` in which `dim` is split into dimensions of given sizes.

    One of the sizes may be -1; it is computed from the others.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    sizes
        The new sizes, as separate arguments or as one sequence.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ShapeError
        If the product of the sizes is not the size of `dim`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.ones(2, 6).unflatten(1, (3, -1)).shape
    autocalc.Size([2, 3, 2])
    """
    if axis is not None or dim is None:
        dim = dim_or_axis("unflatten", dim, axis)
    x = check_tensor("unflatten", input)
    shape = x._array.shape
    axis = axis_of("unflatten", dim, len(shape))
    parts = integers("unflatten", "sizes", sizes)
    known, n = prod([m for m in parts if m != -1]), shape[axis] if shape else 1
    fits = known == n if -1 not in parts else known > 0 and n % known == 0
    if not parts or not fits or parts.count(-1) > 1 or min(parts) < -1:
        raise ShapeError(
            f"unflatten: dimension {axis} of size {n} in shape {x.shape} cannot be "
            f"split into {parts}; their product must be {n}, and one of them may be -1."
        )
    parts = tuple(n // known if m == -1 else m for m in parts)
    return reshape_op(x, (*shape[:axis], *parts, *shape[axis + 1 :]))


@method("swapaxes")
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return a view of `input` with two dimensions exchanged, as `transpose` does.

    Parameters
    ----------
    input
        The input tensor.
    axis0
        The first of the two dimensions.
    axis1
        The second of the two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.swapaxes(ac.ones(2, 3), 0, 1).shape
    autocalc.Size([3, 2])
    """
    return transpose(input, axis0, axis1)


@method("view_as")
@traced(light=True)
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return a view of `input` in the shape of `other`.

    Parameters
    ----------
    input
        The input tensor.
    other
        The tensor with the new shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.arange(4).view_as(ac.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return view(check_tensor("view_as", input), check_tensor("view_as", other).shape)


@method("reshape_as")
@traced(light=True)
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`.

    Parameters
    ----------
    input
        The input tensor.
    other
        The tensor with the new shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.arange(4).reshape_as(ac.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return reshape(
        check_tensor("reshape_as", input), check_tensor("reshape_as", other).shape
    )
