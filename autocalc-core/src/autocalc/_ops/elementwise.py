# SPDX-License-Identifier: MIT
"""Elementwise operators: y_i = f(x_i), with broadcasting."""

from __future__ import annotations

import math
from typing import Any, Protocol

from autocalc._ops._coerce import coerce
from autocalc._ops._op import Binary, Operand, binary, nary, unary
from autocalc._ops._out import copy_to_out
from autocalc._tensor import Tensor

# ---- arithmetic ----------------------------------------------------------------------

add = binary("add", "x + y")


@add.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (
        k.sum_to(g, n.shapes[0]) if n.needs(0) else None,
        k.sum_to(g, n.shapes[1]) if n.needs(1) else None,
    )


sub = binary("sub", "x - y")


@sub.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (
        k.sum_to(g, n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.neg(g), n.shapes[1]) if n.needs(1) else None,
    )


mul = binary("mul", "x * y", saves="a:b b:a")


@mul.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, b = n.saved
    return (
        k.sum_to(k.mul(g, b), n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.mul(g, a), n.shapes[1]) if n.needs(1) else None,
    )


div = binary("div", "x / y", saves="a:b b", floats=True)


@div.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, b = n.saved
    over_b = k.div(g, b)
    db = None
    if n.needs(1):
        db = k.sum_to(k.neg(k.div(k.mul(over_b, a), b)), n.shapes[1])
    return k.sum_to(over_b, n.shapes[0]) if n.needs(0) else None, db


pow = binary("pow", "x to the power y", saves="out:b a b")


@pow.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    y, a, b = n.saved
    one, zero = k.constant(1, g), k.constant(0, g)
    da = db = None
    if n.needs(0):
        # b * a^(b-1), and 0 where b is 0 also at a = 0, where a^-1 would give inf * 0
        slope = k.mul(b, k.pow(a, k.sub(b, one)))
        slope = k.where(k.compare(b, zero, "eq"), zero, slope)
        da = k.sum_to(k.mul(g, slope), n.shapes[0])
    if n.needs(1):
        # y * log(a), and 0 where a = 0 and b >= 0: the limit, where log gives -inf
        limit = k.where(k.compare(b, zero, "ge"), one, a)
        log_a = k.log(k.where(k.compare(a, zero, "eq"), limit, a))
        db = k.sum_to(k.mul(k.mul(g, y), log_a), n.shapes[1])
    return da, db


neg = unary("neg", "-x", floats=False)


@neg.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(g)


abs = unary("abs", "the absolute value", saves="a", floats=False)


@abs.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    zero = k.constant(0, g)
    negative = k.where(k.compare(a, zero, "lt"), k.neg(g), g)
    return k.where(k.compare(a, zero, "eq"), zero, negative)


# ---- exponentials, roots and trigonometric functions ---------------------------------

exp = unary("exp", "e^x", saves="out")


@exp.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, n.saved[0])


log = unary("log", "the natural logarithm", saves="a")


@log.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, n.saved[0])


# The root of `std`, where 0 has the gradient 0.  It comes before `sqrt`, whose place
# among the operators is thereby its own.
sqrt_zero_grad = unary("sqrt", "the square root", saves="out")


@sqrt_zero_grad.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (y,) = n.saved
    zero = k.constant(0, g)
    at_zero = k.compare(y, zero, "eq")
    slope = k.div(k.constant(0.5, g), k.where(at_zero, k.constant(1, g), y))
    return k.mul(g, k.where(at_zero, zero, slope))


sqrt = unary("sqrt", "the square root", saves="out")


@sqrt.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(k.mul(g, k.constant(0.5, g)), n.saved[0])


rsqrt = unary("rsqrt", "1 / sqrt(x)", saves="out")


@rsqrt.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivative of a^(-1/2) is -a^(-3/2) / 2: of the output's cube."""
    (y,) = n.saved
    slope = k.mul(k.mul(y, k.mul(y, y)), k.constant(-0.5, g))
    return k.mul(g, slope)


sin = unary("sin", "the sine", saves="a")


@sin.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.cos(n.saved[0]))


cos = unary("cos", "the cosine", saves="a")


@cos.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(k.mul(g, k.sin(n.saved[0])))


erf = unary("erf", "the error function", saves="a")


@erf.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    slope = k.mul(k.exp(k.neg(k.mul(a, a))), k.constant(2 / math.sqrt(math.pi), g))
    return k.mul(g, slope)


tanh = unary("tanh", "the hyperbolic tangent", saves="out")


@tanh.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.tanh_backward(g, n.saved[0])


sigmoid = unary("sigmoid", "1 / (1 + e^-x)", saves="out")


@sigmoid.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.sigmoid_backward(g, n.saved[0])


relu = unary("relu", "max(x, 0)", saves="out", floats=False)


@relu.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.relu_backward(g, n.saved[0])


# ---- comparisons and choices ---------------------------------------------------------


class Comparison(Protocol):
    """A comparison of two tensors, one of which may be a number."""

    def __call__(
        self, input: Operand, other: Operand, *, out: Tensor | None = None
    ) -> Tensor:
        """Return booleans, or `out` with the result in it."""


compare = nary("compare", differentiable=False)


def _comparison(op: str, symbol: str) -> Comparison:
    def call(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
        result = compare(*coerce(op, input, other), op)
        return result if out is None else copy_to_out(op, result, out)

    call.__name__ = call.__qualname__ = op
    call.__doc__ = f"Return whether x {symbol} y, element by element; shapes broadcast."
    return call


eq = _comparison("eq", "==")
ne = _comparison("ne", "!=")
lt = _comparison("lt", "<")
le = _comparison("le", "<=")
gt = _comparison("gt", ">")
ge = _comparison("ge", ">=")

choose = nary("where", saves="condition")


@choose.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (condition,) = n.saved
    zero = k.constant(0, g)
    da = db = None
    if n.needs(1):
        da = k.sum_to(k.where(condition, g, zero), n.shapes[1])
    if n.needs(2):
        db = k.sum_to(k.where(condition, zero, g), n.shapes[2])
    return None, da, db


def _extremum(name: str, doc: str) -> Binary:
    """Make maximum or minimum; where both are equal each gets half of g."""
    operator = binary(name, doc, saves="a b")
    loses = "lt" if name == "maximum" else "gt"

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        a, b = n.saved
        zero, half = k.constant(0, g), k.mul(g, k.constant(0.5, g))
        shared = k.where(k.compare(a, b, "eq"), half, g)  # NaN: both get all of g
        da = db = None
        if n.needs(0):
            da = k.where(k.compare(a, b, loses), zero, shared)
            da = k.sum_to(da, n.shapes[0])
        if n.needs(1):
            db = k.where(k.compare(b, a, loses), zero, shared)
            db = k.sum_to(db, n.shapes[1])
        return da, db

    return operator


maximum = _extremum("maximum", "the larger of x and y")
minimum = _extremum("minimum", "the smaller of x and y")

clip = nary("clamp", saves="a low high")


@clip.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Send g to the input inside the limits, to the limit that holds outside."""
    a, low, high = n.saved
    zero = k.constant(0, g)
    da, dlow, dhigh = g, None, None
    if high is not None:
        raised = a if low is None else k.maximum(a, low)
        if n.needs(2):
            over = k.compare(raised, high, "gt")
            dhigh = k.sum_to(k.where(over, g, zero), n.shapes[2])
        da = k.where(k.compare(raised, high, "le"), da, zero)
    if low is not None:
        if n.needs(1):
            under = k.compare(a, low, "lt")
            dlow = k.sum_to(k.where(under, da, zero), n.shapes[1])
        da = k.where(k.compare(a, low, "ge"), da, zero)
    return k.sum_to(da, n.shapes[0]) if n.needs(0) else None, dlow, dhigh


rounding = nary("round")


@rounding.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.zeros(n.shapes[0], k.dtype(g))
