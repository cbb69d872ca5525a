# SPDX-License-Identifier: MIT
"""The floating-point numbers next to others."""

from __future__ import annotations

from typing import Any

from autocalc._ops import comparison
from autocalc._ops._method import method
from autocalc._ops._op import binary
from autocalc._ops._out import apply_out
from autocalc._tensor import Tensor
from autocalc.errors import DTypeError, GradError

_nextafter = binary("nextafter", "the number next to x towards y")


@_nextafter.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    message = "nextafter: has no derivative; detach() the operands."
    raise GradError(message)


@method("nextafter", inplace="nextafter_")
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the floating-point number next to x, towards y; x where both are equal.

    Parameters
    ----------
    input
        x, a tensor of float32 or float64.
    other
        y, a tensor; shapes broadcast.
    out
        A tensor that takes the result, converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is no tensor, or the result were neither float32 nor float64.

    Examples
    --------
    >>> import autocalc as ac
    >>> (ac.nextafter(ac.tensor(1.0), ac.tensor(2.0)) - 1).item()
    1.1920928955078125e-07
    """
    x, y = comparison.float_tensors("nextafter", input, other)
    if x.itemsize < 4:
        message = (
            f"nextafter: takes float32 or float64, not {x.dtype.name}, which is "
            f"computed in float32: the number next to it would be rounded away."
        )
        raise DTypeError(message)
    return apply_out("nextafter", _nextafter(x, y), out)
