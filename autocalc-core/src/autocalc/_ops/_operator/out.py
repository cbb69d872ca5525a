# SPDX-License-Identifier: MIT
"""`out=`: the result in a tensor that the caller has."""

from __future__ import annotations

from typing import Any, TypeVar

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._ops._operator.coerce import as_operand, check_tensor
from autocalc._ops._operator.view_tracker import base_of
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

T = TypeVar("T")


def apply_out(where: str, result: T, out: Any) -> T:
    """Return `result`, or `out` with `result` in it.

    Where the result is several tensors, so is `out`.

    Raises
    ------
    ArgumentError
        If `out` does not hold as many tensors as the result.
    """
    if out is None:
        return result
    if isinstance(result, Tensor):
        same: T = copy_to_out(where, result, out)  # type: ignore[assignment]  # a Tensor, as T is
        return same
    parts: Any = result
    if not isinstance(out, (tuple, list)) or len(out) != len(parts):
        message = (
            f"{where}: `out` is {type(out).__name__}; it must be a tuple of "
            f"{len(parts)} tensors, as the result is."
        )
        raise ArgumentError(message)
    tensors = [copy_to_out(where, one, to) for one, to in zip(parts, out, strict=True)]
    kind: Any = type(parts)
    whole: T = kind(*tensors) if hasattr(kind, "_fields") else kind(tensors)
    return whole


def copy_to_out(where: str, result: Tensor, out: Tensor) -> Tensor:
    """Copy `result` into `out`, converted; return `out`.

    An `out` without elements takes the shape of the result, so that
    ``out=ac.empty(0)`` serves for any.

    Raises
    ------
    ShapeError
        If the shapes differ.
    DTypeError
        If the result would lose its kind: a float in integers, a number in booleans.
    GradError
        If either takes part in a gradient.
    """
    check_tensor(where, out)
    if current().grad and (out._edge or result._edge):
        message = (
            f"{where}: `out` takes no part in a gradient, but an operand or `out` "
            f"requires one. Use the value that is returned, or ac.no_grad()."
        )
        raise GradError(message)
    if out.numel() == 0 and base_of(out) is out and out._edge is None:
        out._array = arrays.empty(result.shape, out._array.dtype)
    if out.shape != result.shape:
        message = (
            f"{where}: `out` has shape {out.shape}, the result {result.shape}; they "
            f"must be equal."
        )
        raise ShapeError(message)
    if result.dtype.category > out.dtype.category:
        message = (
            f"{where}: the result has dtype {result.dtype.name}, which `out` of "
            f"{out.dtype.name} cannot hold; give `out` that dtype."
        )
        raise DTypeError(message)
    arrays.copy(as_operand(result, out.dtype)._array, into=out._array)
    out._bump()
    return out
