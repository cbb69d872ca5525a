# SPDX-License-Identifier: MIT
"""The next floating-point number in a direction."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.factories import binary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import comparison
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import DTypeError, NoDerivativeError

_OP = Op("nextafter")


def _rule(k: Any, n: Any, g: Any) -> Any:
    raise NoDerivativeError("nextafter: has no derivative; detach() the operands.")


_OP.rule = _rule


_bits_op = binary("next_float_bits", "the bits of the float next to that of x")


def _neighbours(x: Tensor, y: Tensor) -> Tensor:
    integer = dtypes.int32 if x.itemsize == 4 else dtypes.int64
    bits = _bits_op(_same_bytes(x, integer), _same_bytes(y, integer))
    found = _same_bytes(bits, x.dtype)
    edges = (x._edge, y._edge)
    if not (any(edges) and current().grad):
        return found
    shapes = (x._array.shape, y._array.shape)
    node = Node(_OP, edges, (), (), shapes, found._array.dtype, ())
    return make(found._array, node)


def _same_bytes(x: Tensor, dtype: dtypes.DType) -> Tensor:
    return make(arrays.reinterpret(x._array, dtype.numpy), None)


@method("nextafter", inplace="nextafter_")
@traced(light=True)
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the floating-point number that follows x in the direction of y.

    It is x itself where x and y are equal.

    Parameters
    ----------
    input
        The numbers x, a tensor of float32 or float64.
    other
        The numbers y, a tensor; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is not a tensor, or the result would be neither float32 nor
        float64.

    Examples
    --------
    >>> import autocalc as ac
    >>> (ac.nextafter(ac.tensor(1.0), ac.tensor(2.0)) - 1).item()
    1.1920928955078125e-07
    """
    x, y = comparison.float_tensors("nextafter", input, other)
    if x.itemsize < 4:
        raise DTypeError(
            f"nextafter: needs float32 or float64, not {x.dtype.name}, which is "
            "computed in float32: rounding the result would lose the neighbouring "
            "number."
        )
    return _neighbours(x, y)
