# SPDX-License-Identifier: MIT
"""Floor division, remainders, signs, and bitwise operators."""

from __future__ import annotations

from typing import Any, TypeVar

from autocalc._ops._op import Binary, Unary, binary, unary

OperatorT = TypeVar("OperatorT", Unary, Binary)


def _flat(operator: OperatorT) -> OperatorT:
    """Give an operator that is constant between its jumps the derivative 0."""

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        zeros = tuple(
            k.zeros(shape, k.dtype(g)) if n.needs(i) else None
            for i, shape in enumerate(n.shapes)
        )
        return zeros if len(zeros) > 1 else zeros[0]

    return operator


floor_divide = _flat(binary("floor_divide", "floor(x / y)"))
sign = _flat(unary("sign", "1, 0 or -1 as x is positive, 0 or negative", floats=False))


def _leftover(name: str, doc: str, mode: str) -> Binary:
    """Make a - b * round(a / b): the quotient is constant between its jumps."""
    operator = binary(name, doc, saves="a:b b:b")

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        db = None
        if n.needs(1):
            a, b = n.saved
            whole = k.round(k.div(a, b), mode)
            db = k.sum_to(k.neg(k.mul(g, whole)), n.shapes[1])
        return k.sum_to(g, n.shapes[0]) if n.needs(0) else None, db

    return operator


fmod = _leftover("fmod", "x - y trunc(x / y), which has the sign of x", "trunc")
remainder = _leftover(
    "remainder", "x - y floor(x / y), which has the sign of y", "floor"
)

# ---- bits: integers and booleans have no gradient ------------------------------------

bitwise_and = binary("bitwise_and", "the bits set in both")
bitwise_or = binary("bitwise_or", "the bits set in either")
bitwise_xor = binary("bitwise_xor", "the bits set in one")
bitwise_left_shift = binary("bitwise_left_shift", "x * 2^y of integers")
bitwise_right_shift = binary("bitwise_right_shift", "floor(x / 2^y) of integers")
bitwise_not = unary("bitwise_not", "the other bits", floats=False)
