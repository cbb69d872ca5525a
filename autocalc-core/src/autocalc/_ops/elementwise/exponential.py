# SPDX-License-Identifier: MIT
"""Exponentials, logarithms, roots and the error function."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import Operand
from autocalc._ops._operator.factories import Binary, binary, unary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number

exp = unary(
    "exp",
    "e^x",
    saves="out",
    methods="exp",
    inplace="exp_",
    example=("[0.0, 1.0]", "[1.0000, 2.7183]"),
)


@exp.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, n.saved[0])


exp2 = unary(
    "exp2",
    "2^x",
    saves="out",
    methods="exp2",
    inplace="exp2_",
    example=("[0.0, 3.0]", "[1., 8.]"),
)


@exp2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.mul(n.saved[0], k.constant(math.log(2), g)))


expm1 = unary(
    "expm1",
    "e^x - 1, accurate near x = 0",
    saves="out",
    methods="expm1",
    inplace="expm1_",
    example=("[0.0, 1.0]", "[0.0000, 1.7183]"),
)


@expm1.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.add(n.saved[0], k.constant(1, g)))


log = unary(
    "log",
    "the natural logarithm of x",
    saves="a",
    methods="log",
    inplace="log_",
    example=("[1.0, 10.0]", "[0.0000, 2.3026]"),
)


@log.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, n.saved[0])


log2 = unary(
    "log2",
    "the logarithm of x to base 2",
    saves="a",
    methods="log2",
    inplace="log2_",
    example=("[1.0, 8.0]", "[0., 3.]"),
)


@log2.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.mul(n.saved[0], k.constant(math.log(2), g)))


log10 = unary(
    "log10",
    "the logarithm of x to base 10",
    saves="a",
    methods="log10",
    inplace="log10_",
    example=("[1.0, 100.0]", "[0., 2.]"),
)


@log10.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.mul(n.saved[0], k.constant(math.log(10), g)))


log1p = unary(
    "log1p",
    "log(1 + x), accurate near x = 0",
    saves="a",
    methods="log1p",
    inplace="log1p_",
    example=("[0.0, 1.0]", "[0.0000, 0.6931]"),
)


@log1p.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(g, k.add(n.saved[0], k.constant(1, g)))


sqrt = unary(
    "sqrt",
    "the square root of x",
    saves="out",
    methods="sqrt",
    inplace="sqrt_",
    example=("[4.0, 9.0]", "[2., 3.]"),
)


@sqrt.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.div(k.mul(g, k.constant(0.5, g)), n.saved[0])


rsqrt = unary(
    "rsqrt",
    "1 / sqrt(x)",
    saves="out",
    methods="rsqrt",
    inplace="rsqrt_",
    example=("[1.0, 4.0]", "[1.0000, 0.5000]"),
)


@rsqrt.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivative of a^(-1/2) is -a^(-3/2) / 2, so use the cube of the output."""
    (y,) = n.saved
    slope = k.mul(k.mul(y, k.mul(y, y)), k.constant(-0.5, g))
    return k.mul(g, slope)


erf = unary(
    "erf",
    "the error function of x",
    saves="a",
    methods="erf",
    inplace="erf_",
    example=("[0.0, 1.0]", "[0.0000, 0.8427]"),
)


@erf.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    slope = k.mul(k.exp(k.neg(k.mul(a, a))), k.constant(2 / math.sqrt(math.pi), g))
    return k.mul(g, slope)


erfc = unary(
    "erfc",
    "1 - erf(x), also accurate where the result is close to 0",
    saves="a",
    methods="erfc",
    inplace="erfc_",
    example=("[0.0, 1.0]", "[1.0000, 0.1573]"),
)


@erfc.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (a,) = n.saved
    slope = k.mul(k.exp(k.neg(k.mul(a, a))), k.constant(-2 / math.sqrt(math.pi), g))
    return k.mul(g, slope)


@method("logit", inplace="logit_")
@traced
@rounded_once
def logit(
    input: Tensor, eps: float | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return log(x / (1 - x)), the inverse of sigmoid, element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    eps
        A small number: x is first limited to [eps, 1 - eps]; None for no limits.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logit(ac.tensor([0.5, 1.0]))
    tensor([0., inf])
    """
    x = comparison.float_input("logit", input)
    if eps is not None:
        eps = number("logit", "eps", eps)
        low, high = (arithmetic.mul(x.detach(), 0) + end for end in (eps, 1 - eps))
        x = clamping.clamp_op(x, low, high)
    return _log_odds(x)


@one_node("logit", "a", like="abs")
@traced
def _log_odds(x: Tensor) -> Tensor:
    return arithmetic.sub_op(log(x), log1p(arithmetic.neg(x)))


@_log_odds.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g / (a (1 - a)), and NaN outside of 0 and 1, as in PyTorch."""
    (x,) = n.saved
    zero, one = k.constant(0, x), k.constant(1, x)
    outside = k.bitwise_or(k.compare(x, zero, "lt"), k.compare(x, one, "gt"))
    slope = k.div(g, k.mul(x, k.sub(one, x)))
    return k.where(outside, k.constant(math.nan, g), slope)


xlogy_op = binary("xlogy", "x log(y)", saves="a b")


@xlogy_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivatives of a log(b) are log(b) and a / b, but 0 where a is 0.

    Where a is 0, log(b) may be infinite.
    """
    a, b = n.saved
    zero, one = k.constant(0, g), k.constant(1, g)
    above_0 = k.compare(b, zero, "gt")
    inside = k.compare(b, k.constant(math.inf, g), "lt")
    endless = k.compare(above_0, inside, "ne")  # for numbers: <= 0, or infinite
    known = k.compare(b, b, "eq")
    nothing = k.bitwise_and(k.compare(a, zero, "eq"), k.bitwise_and(endless, known))
    safe = k.where(nothing, one, b)
    da = db = None
    if n.needs(0):
        da = k.sum_to(k.weigh(g, k.log(safe)), n.shapes[0])
    if n.needs(1):
        slope = k.where(nothing, zero, k.div(a, safe))
        db = k.sum_to(k.weigh(g, slope), n.shapes[1])
    return da, db


_xlogy_op = binary("xlogy", "x log(y)", saves="a b", main=False)


@_xlogy_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivatives of a log(b) are log(b) and a / b, as in PyTorch.

    The first is 0 where a is 0 and b <= 0; the second is NaN where both are 0.
    """
    a, b = n.saved
    zero = k.constant(0, g)
    da = db = None
    if n.needs(0):
        none = k.bitwise_and(k.compare(a, zero, "eq"), k.compare(b, zero, "le"))
        da = k.sum_to(k.where(none, zero, k.xlogy(g, b)), n.shapes[0])
    if n.needs(1):
        db = k.sum_to(k.div(k.mul(g, a), b), n.shapes[1])
    return da, db


def weighed_log(input: Tensor, other: Tensor) -> Tensor:
    """Return x log(y) with slopes of 0 where x is 0 and log(y) infinite."""
    return xlogy_op(*comparison.float_inputs("xlogy", input, other))


def _of_two_logarithms(name: str, doc: str, base: float) -> Binary:
    """Make log(base^x + base^y); its slopes are sigmoids of the difference."""
    operator = binary(name, doc, saves="a b", numbers=False)

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        a, b = n.saved
        infinity = k.constant(math.inf, g)
        # Equal infinities have no difference, so the first operand gets all of g.
        same = k.bitwise_and(k.compare(a, b, "eq"), k.compare(k.abs(a), infinity, "eq"))
        first = k.where(same, infinity, a)
        gap = k.sub(first, k.where(same, k.constant(0, g), b))
        gap = k.mul(gap, k.constant(math.log(base), g))
        da = db = None
        if n.needs(0):
            da = k.sum_to(k.mul(g, k.sigmoid(gap)), n.shapes[0])
        if n.needs(1):
            db = k.sum_to(k.mul(g, k.sigmoid(k.neg(gap))), n.shapes[1])
        return da, db

    return operator


logaddexp_op = _of_two_logarithms("logaddexp", "log(e^x + e^y)", math.e)
logaddexp2_op = _of_two_logarithms("logaddexp2", "log2(2^x + 2^y)", 2.0)


@method("xlogy", inplace="xlogy_")
@traced(light=True)
@rounded_once(promotes=True)
def xlogy(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return x log(y), which is 0 where x is 0 and y is not NaN.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    other
        The second operand y, a tensor or a number; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.xlogy(ac.tensor([0.0, 2.0]), ac.tensor([0.0, 1.0]))
    tensor([0., 0.])
    """
    x, y = comparison.float_inputs("xlogy", input, other)
    return _xlogy_op(x, y)


@method("logaddexp")
@traced(light=True)
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return log(e^x + e^y), computed without overflow.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    other
        The tensor y; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is not a tensor, or neither operand has a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logaddexp(ac.tensor([0.0]), ac.tensor([0.0]))
    tensor([0.6931])
    """
    x, y = comparison.float_tensors("logaddexp", input, other)
    return logaddexp_op(x, y)


@method("logaddexp2")
@traced(light=True)
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return log2(2^x + 2^y), computed without overflow.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    other
        The tensor y; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is not a tensor, or neither operand has a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logaddexp2(ac.tensor([0.0]), ac.tensor([0.0]))
    tensor([1.])
    """
    x, y = comparison.float_tensors("logaddexp2", input, other)
    return logaddexp2_op(x, y)
