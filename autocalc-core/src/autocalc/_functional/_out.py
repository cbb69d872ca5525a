# SPDX-License-Identifier: MIT
"""`out=`: the result in a tensor that the caller has."""

from __future__ import annotations

from autocalc._dispatch._arrays import arrays
from autocalc._dispatch._state import current
from autocalc._functional._arguments import checked
from autocalc._ops._coerce import as_operand
from autocalc._tensor import Tensor
from autocalc.errors import DTypeError, GradError, ShapeError


def written(where: str, result: Tensor, out: Tensor) -> Tensor:
    """Copy `result` into `out`, converted; return `out`.

    Raises
    ------
    ShapeError
        If the shapes differ.
    DTypeError
        If the result would lose its kind: a float in integers, a number in booleans.
    GradError
        If either takes part in a gradient.
    """
    checked(where, out)
    if current().grad and (out._edge or result._edge):
        message = (
            f"{where}: `out` takes no part in a gradient, but an operand or `out` "
            f"requires one. Use the value that is returned, or ac.no_grad()."
        )
        raise GradError(message)
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
