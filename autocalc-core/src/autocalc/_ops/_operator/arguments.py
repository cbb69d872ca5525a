# SPDX-License-Identifier: MIT
"""Checks of arguments that many functions share."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from autocalc._dispatch._callers import warn
from autocalc._kernels.rules import check_ndim
from autocalc._ops._operator.coerce import Number, check_tensor
from autocalc._ops._operator.factories import Operand
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, integers, short
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError

__all__ = [
    "Dims",
    "NeededDim",
    "NeededDims",
    "Operand",
    "as_int",
    "axes_of",
    "axis_of",
    "check_tensor",
    "full_shape",
    "integers",
    "min_of",
    "numbers_only",
    "sizes_given",
    "sizes_of",
]

Dims: TypeAlias = int | Sequence[int] | None

#: The type of a required argument: one or more dimensions, given as `dim` or as `axis`.
#: `declared` raises if both are missing, so the function never gets the default None.
NeededDim: TypeAlias = Any
NeededDims: TypeAlias = Any


def axes_of(where: str, x: Tensor, dim: Dims) -> tuple[int, ...]:
    """Return the dimensions that `dim` names, sorted; None means all dimensions."""
    ndim = x._array.ndim
    if dim.__class__ is int and -ndim <= dim < ndim:
        return (dim % ndim,)
    dims = () if dim is None else integers(where, "dim", dim)
    if not dims:
        return tuple(range(ndim))
    axes = sorted(axis_of(where, d, x.ndim) for d in dims)
    if x.ndim == 0:
        return ()
    if len(set(axes)) < len(axes):
        twice = next(d for d in axes if axes.count(d) > 1)
        raise DimensionError(
            f"{where}: dim {twice} appears multiple times in the list of dims: "
            f"`dim`={dim}; name each dimension once."
        )
    return tuple(axes)


def axis_of(where: str, dim: int, ndim: int) -> int:
    """Return `dim` counted from the left; 0 and -1 are allowed for 0-d tensors."""
    if dim.__class__ is not int:
        dim = as_int(where, "dim", dim)
    if 0 <= dim < ndim:
        return dim
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise DimensionError(
            f"{where}: Dimension out of range: `dim`={dim} for {ndim} dimensions; it "
            f"must be between {-limit} and {limit - 1}."
        )
    return dim % limit


def full_shape(where: str, x: Tensor, shape: Sequence[int]) -> tuple[int, ...]:
    """Return `shape` with -1 replaced by the size that fits the number of elements."""
    sizes = integers(where, "shape", shape)
    check_ndim(len(sizes))
    numel = x.numel()
    if prod(sizes) == numel and min_of(sizes) >= 0:
        return sizes
    known = prod([n for n in sizes if n != -1])
    holes = sizes.count(-1)
    fits = numel == known if holes == 0 else known > 0 and numel % known == 0
    if holes == 1 and known == numel == 0:
        raise ShapeError(
            f"{where}: cannot make {sizes} of a tensor without elements, because the "
            "unspecified dimension size -1 can be any value; give that size."
        )
    if holes > 1 or min_of(sizes) < -1 or not fits:
        raise ShapeError(
            f"{where}: a tensor of shape {x.shape} with {numel} elements cannot have "
            f"the shape {sizes}; the product of the sizes must be {numel}, and one of "
            "them may be -1."
        )
    return tuple(numel // known if n == -1 else n for n in sizes)


def min_of(sizes: Sequence[int]) -> int:
    """Return the smallest size, or 0 if there are no sizes."""
    return min(sizes, default=0)


def numbers_only(where: str, value: Any) -> Any:
    """Return `value` if it is a plain number."""
    if not isinstance(value, Number):
        raise DTypeError(f"{where}: needs a number, not {type(value).__name__}.")
    return value


def sizes_given(where: str, sizes: tuple[Any, ...], named: Any = None) -> Any:
    """Return the sizes of ``x.view(2, 3)``, ``x.view((2, 3))`` or ``dims=(2, 3)``."""
    if named is not None:
        if sizes:
            message = (
                f"{where}: the sizes {short(sizes)} are given twice; give them once."
            )
            raise ArgumentError(message)
        return named
    if not sizes:
        raise ArgumentError(
            f"{where}: no sizes were given; give an empty tuple () if there are none."
        )
    alone = len(sizes) == 1 and isinstance(sizes[0], (tuple, list))
    return sizes[0] if alone else sizes


def sizes_of(where: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return sizes given one by one or as one sequence; raise if one is negative."""
    sizes = integers(where, "size", tuple(sizes_given(where, size)))
    if min_of(sizes) < 0:
        raise ShapeError(f"{where}: {sizes} contains a negative number.")
    return sizes


def check_older_order(where: str, name: str, factor: Any, tensor: Any) -> None:
    """Warn of the older order of PyTorch; raise unless a number and a tensor are given.

    A factor that follows the tensors must be passed by keyword.
    """
    if not isinstance(tensor, Tensor) or isinstance(factor, Tensor):
        first, last = type(factor).__name__, type(tensor).__name__
        raise DTypeError(
            f"{where}: a positional argument of type {last} cannot follow one of type "
            f"{first}; give `{name}` by name."
        )
    _warn_of_older_order(where, f"`{name}`")


def _warn_of_older_order(where: str, factors: str) -> None:
    warn(
        f"This overload of {where} is deprecated: give {factors} by name, after the "
        "tensors.",
        UserWarning,
    )


#: PyTorch's older orders of a sum with a product; "n" is a number, "t" a tensor.
_OLDER_ORDERS = frozenset({"nttt", "ntntt", "tntt", "tnntt"})
#: The functions that take them.
OF_OLDER_ORDERS = frozenset({"addmm", "addmv", "addr", "baddbmm", "addbmm"})


def of_older_order(
    function: Any, given: Any, beta: Any, alpha: Any, where: str = ""
) -> Tensor:
    """Call a function whose arguments are in one of PyTorch's older orders.

    ``f(beta, input, alpha, a, b)``, ``f(input, beta, alpha, a, b)``, and both without
    `alpha`.  `where` is the name of the function in messages, if it is another.
    """
    where = where or function.__name__
    order = "".join("t" if isinstance(x, Tensor) else "n" for x in given)
    if order not in _OLDER_ORDERS or (beta, alpha) != (1, 1):
        kinds = ", ".join(type(x).__name__ for x in given)
        raise DTypeError(
            f"{where}: the arguments are {kinds}; give three tensors, and then `beta` "
            "and `alpha` by name."
        )
    _warn_of_older_order(where, "`beta` and `alpha`")
    tensors = [x for x in given if isinstance(x, Tensor)]
    beta, alpha, *_ = *(x for x in given if not isinstance(x, Tensor)), 1
    result: Tensor = function(*tensors, beta=beta, alpha=alpha)
    return result
