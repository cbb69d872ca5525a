# SPDX-License-Identifier: MIT
"""The logarithm of the gamma function, its derivatives, and incomplete functions."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import as_int
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import Binary, binary, nary, unary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, NoDerivativeError

lgamma = unary(
    "lgamma",
    "log(abs(Gamma(x))), which is infinite at 0, -1, -2, ...",
    saves="a",
    methods="lgamma",
    inplace="lgamma_",
    example=("[0.5, 4.0]", "[0.5724, 1.7918]"),
)


@lgamma.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.digamma(n.saved[0]))


digamma = unary(
    "digamma",
    "the derivative of log(Gamma(x)), which is NaN at -1, -2, ...",
    saves="a",
    methods="digamma",
    inplace="digamma_",
    example=("[0.5, 1.0]", "[-1.9635, -0.5772]"),
)


@digamma.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.mul(g, k.polygamma(n.saved[0], 1))


_polygamma = nary("polygamma", saves="a")


@_polygamma.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (order,) = n.attributes
    return k.mul(g, k.polygamma(n.saved[0], order + 1))


@declared
def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the n-th derivative of the digamma function, element by element.

    For n > 0 it is (-1)^(n + 1) n! zeta(n + 1, x), which is infinite at 0, -1, -2, ...

    Parameters
    ----------
    n
        The order of the derivative; 0 is `digamma` itself.
    input
        The argument x, a tensor of any shape; integers are converted to floats.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `n` is negative.
    DTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.polygamma(1, ac.tensor([1.0, 0.5]))
    tensor([1.6449, 4.9348])
    """
    order = as_int("polygamma", "n", n)
    if order < 0:
        message = (
            f"polygamma(n, x) does not support negative n. `n` is {order}; it is the "
            "number of derivatives."
        )
        raise ArgumentError(message)
    x = comparison.float_input("polygamma", input)
    return _polygamma(x, order)


@method("polygamma", inplace="polygamma_")
def _polygamma_method(input: Tensor, n: int) -> Tensor:
    """Return derivative `n` of digamma(x).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1.0]).polygamma(1)  # pi^2 / 6
    tensor([1.6449])
    """
    return polygamma(n, input)


@method("mvlgamma", inplace="mvlgamma_")
@declared
@rounded_once
def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of the multivariate Gamma function, element by element.

    It is p (p - 1) log(pi) / 4 plus the sum of log(Gamma(x - i / 2)) over i = 0, ..., p
    - 1.

    Parameters
    ----------
    input
        The argument x, a tensor of any shape; integers are converted to floats.
    p
        The dimension, 1 or more.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `p` is below 1.
    DTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.mvlgamma(ac.tensor([2.0, 3.0]), 2)
    tensor([0.4516, 1.5502])
    """
    if as_int("mvlgamma", "p", p) < 1:
        raise ArgumentError(
            f"mvlgamma: `p` is {p}; it is a dimension and must be 1 or more."
        )
    x = comparison.float_input("mvlgamma", input)
    total = lgamma(x)
    for i in range(1, p):
        total = arithmetic.add(total, lgamma(arithmetic.sub(x, i / 2)))
    return arithmetic.add(total, p * (p - 1) / 4 * math.log(math.pi))


def _incomplete(name: str, sign: float) -> Binary:
    made = binary(name, f"{name}(x, y)", saves="a:b b:b")

    @made.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        if n.needs(0):
            raise NoDerivativeError(
                f"{name}: has no gradient with respect to the first operand; detach() "
                "it, or use finite differences."
            )
        slope = _density(k, *n.saved)
        slope = slope if sign > 0 else k.neg(slope)
        return None, k.sum_to(k.mul(g, slope), n.shapes[1])

    return made


def _density(k: Any, a: Any, x: Any) -> Any:
    """Return x^(a - 1) e^-x / Gamma(a); x^0 is 1, also at 0."""
    zero, one, nan = (k.constant(c, a) for c in (0, 1, math.nan))
    power = k.mul(k.sub(a, one), k.log(x))
    plain = k.where(k.compare(x, zero, "lt"), nan, zero)
    power = k.where(k.compare(a, one, "eq"), plain, power)
    return k.exp(k.sub(k.sub(power, x), k.lgamma(a)))


_igamma = _incomplete("igamma", 1.0)
_igammac = _incomplete("igammac", -1.0)


@method("igamma", inplace="igamma_")
@traced(light=True)
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the regularised lower incomplete Gamma function P(a, x).

    It is the integral of t^(a - 1) e^-t from 0 to x, divided by Gamma(a).  It has a
    gradient with respect to x, but none with respect to a.

    Parameters
    ----------
    input
        The order a, a tensor; the result is NaN where a is negative.
    other
        The argument x, a tensor; the result is NaN where x is negative. Shapes are
        broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is not a tensor, or neither operand has a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.igamma(ac.tensor([1.0, 3.0]), ac.tensor([1.0, 3.0]))
    tensor([0.6321, 0.5768])
    """
    pair = comparison.float_tensors("igamma", input, other)
    return _igamma(*pair)


@method("igammac", inplace="igammac_")
@traced(light=True)
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return 1 - P(a, x), where P is `igamma`; small results are accurate, too.

    Parameters
    ----------
    input
        The order a, a tensor; the result is NaN where a is negative.
    other
        The argument x, a tensor; the result is NaN where x is negative. Shapes
        broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If an operand is not a tensor, or neither operand has a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.igammac(ac.tensor([1.0, 3.0]), ac.tensor([1.0, 3.0]))
    tensor([0.3679, 0.4232])
    """
    pair = comparison.float_tensors("igammac", input, other)
    return _igammac(*pair)


zeta = binary(
    "zeta",
    "Hurwitz's zeta function, the sum of (y + k)^-x over k = 0, 1, 2, ...",
    saves="a:b b:b",
    floats=True,
    place="special.",
    example=("[2.0, 3.0]", "[1.0, 1.0]", "[1.6449, 1.2021]"),
)


@zeta.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    if n.needs(0):
        raise NoDerivativeError(
            "zeta: has no gradient with respect to the first operand; detach() it, or "
            "use finite differences."
        )
    s, q = n.saved
    slope = k.mul(k.neg(s), k.zeta(k.add(s, k.constant(1, s)), q))
    return None, k.sum_to(k.mul(g, slope), n.shapes[1])
