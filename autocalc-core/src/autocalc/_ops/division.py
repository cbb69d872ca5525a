# SPDX-License-Identifier: MIT
"""Floor division, remainders, signs, and bitwise operators."""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import Operator, binary, nary, unary


def _flat(operator: Operator) -> Operator:
    """Give an operator that is constant between its jumps the derivative 0."""

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        zeros = tuple(
            k.zeros(shape, k.dtype(g)) if n.needs(i) else None
            for i, shape in enumerate(n.shapes)
        )
        return zeros if len(zeros) > 1 else zeros[0]

    return operator


floor_divide = _flat(binary("floor_divide"))
sign = _flat(unary("sign", floats=False))


def _leftover(name: str, mode: str) -> Operator:
    """Make a - b * round(a / b): the quotient is constant between its jumps."""
    operator = binary(name, saves="a:b b:b")

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        db = None
        if n.needs(1):
            a, b = n.saved
            whole = k.round(k.div(a, b), mode)
            db = k.sum_to(k.neg(k.mul(g, whole)), n.shapes[1])
        return k.sum_to(g, n.shapes[0]) if n.needs(0) else None, db

    return operator


fmod = _leftover("fmod", "trunc")
remainder = _leftover("remainder", "floor")

# ---- bits: integers and booleans have no gradient ------------------------------------

bitwise_and = binary("bitwise_and")
bitwise_or = binary("bitwise_or")
bitwise_xor = binary("bitwise_xor")
bitwise_left_shift = binary("bitwise_left_shift")
bitwise_right_shift = binary("bitwise_right_shift")
bitwise_not = nary("bitwise_not", differentiable=False)
