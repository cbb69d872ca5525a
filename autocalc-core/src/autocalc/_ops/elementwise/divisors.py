# SPDX-License-Identifier: MIT
"""The greatest common divisor and the least common multiple."""

from __future__ import annotations

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import coerce
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._tensor import Tensor
from autocalc.errors import DTypeError

__all__ = ["gcd", "lcm"]

gcd_op, lcm_op = nary("gcd"), nary("lcm")


@method("gcd", inplace="gcd_")
@traced(light=True)
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the greatest common divisor, which is never negative.

    Parameters
    ----------
    input
        The first operand, a tensor of integers.
    other
        The second operand, a tensor of integers; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand holds floats, or both operands hold booleans.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.gcd(ac.tensor([12, 5, 0]), ac.tensor([8, 10, 3]))
    tensor([4, 5, 3])
    """
    return gcd_op(*_integers("gcd", input, other))


@method("lcm", inplace="lcm_")
@traced(light=True)
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the least common multiple; it is 0 where an operand is 0.

    Parameters
    ----------
    input
        The first operand, a tensor of integers.
    other
        The second operand, a tensor of integers; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand holds floats, or both operands hold booleans.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.lcm(ac.tensor([4, 5, 0]), ac.tensor([6, 10, 3]))
    tensor([12, 10,  0])
    """
    return lcm_op(*_integers("lcm", input, other))


def _integers(where: str, input: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors of one integer dtype."""
    a, b = coerce(where, check_tensor(where, input), check_tensor(where, other))
    refuse_booleans(where, a)
    if a.is_floating_point():
        raise DTypeError(
            f"{where}: got {input.dtype.name} and {other.dtype.name}; both must hold "
            "integers. Convert it with .long()."
        )
    return a, b
