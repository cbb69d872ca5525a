# SPDX-License-Identifier: MIT
"""Inverses of erf, the normal distribution, Bessel functions and entropies."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import Operand
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import OfOne, binary, documented, nary, unary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, comparison
from autocalc._ops.elementwise.exponential import erfc
from autocalc._tensor import Tensor

erfinv = unary(
    "erfinv",
    "the number whose error function is x (infinite at -1 and 1, NaN beyond)",
    saves="out",
    methods="erfinv",
    inplace="erfinv_",
    example=("[0.0, 0.5]", "[0.0000, 0.4769]"),
)


@erfinv.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (y,) = n.saved
    slope = k.mul(k.exp(k.mul(y, y)), k.constant(math.sqrt(math.pi) / 2, g))
    return k.mul(g, slope)


erfcx = unary(
    "erfcx",
    "e^(x^2) erfc(x), which does not overflow for large positive x",
    saves="a",
    place="special.",
    example=("[0.0, 30.0]", "[1.0000, 0.0188]"),
)


@erfcx.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (x,) = n.saved
    twice = k.mul(k.mul(x, k.erfcx(x)), k.constant(2, g))
    return k.mul(g, k.sub(twice, k.constant(2 / math.sqrt(math.pi), g)))


ndtri = unary(
    "ndtri",
    "the inverse of `ndtr`: the quantile of the standard normal distribution",
    saves="out",
    place="special.",
    example=("[0.5, 0.975]", "[0.0000, 1.9600]"),
)


@ndtri.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (y,) = n.saved
    half = k.mul(k.mul(y, y), k.constant(0.5, g))
    return k.mul(g, k.mul(k.exp(half), k.constant(math.sqrt(2 * math.pi), g)))


entr = unary(
    "entr",
    "-x log(x), which is 0 where x is 0 and -infinity where x is negative",
    saves="a",
    place="special.",
    example=("[0.0, 0.5]", "[0.0000, 0.3466]"),
)


@entr.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(k.mul(g, k.add(k.log(n.saved[0]), k.constant(1, g))))


_bessel = nary("bessel_i", saves="a out")


@_bessel.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivative of I_n is the mean of I_(n-1) and I_(n+1); I_-1 is I_1."""
    x, y = n.saved
    order, scaled = n.attributes
    below, above = (k.bessel_i(x, o, scaled) for o in (abs(order - 1), order + 1))
    slope = k.mul(k.add(below, above), k.constant(0.5, g))
    if scaled:
        slope = k.sub(slope, k.mul(k.sign(x), y))
    return k.mul(g, slope)


def _bessel_function(
    name: str, doc: str, order: int, scaled: bool, example: tuple[str, str], place: str
) -> OfOne:
    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        x = comparison.float_input(name, input)
        return _bessel(x, order, scaled)

    call.__name__ = call.__qualname__ = name
    doc = f"Return {doc}, element by element."
    call.__doc__ = documented(place + name, doc, ("input",), example)
    return declared(call)


i0 = method("i0", inplace="i0_")(
    _bessel_function(
        "i0",
        "the modified Bessel function of the first kind of order 0",
        0,
        False,
        ("[0.0, 1.0]", "[1.0000, 1.2661]"),
        "",
    )
)

i0e = _bessel_function(
    "i0e",
    "e^-abs(x) times the modified Bessel function of order 0",
    0,
    True,
    ("[0.0, 1.0]", "[1.0000, 0.4658]"),
    "special.",
)

i1 = _bessel_function(
    "i1",
    "the modified Bessel function of the first kind of order 1",
    1,
    False,
    ("[0.0, 1.0]", "[0.0000, 0.5652]"),
    "special.",
)

i1e = _bessel_function(
    "i1e",
    "e^-abs(x) times the modified Bessel function of order 1",
    1,
    True,
    ("[0.0, 1.0]", "[0.0000, 0.2079]"),
    "special.",
)


@declared
@rounded_once
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the standard normal distribution function, erfc(-x / sqrt(2)) / 2.

    Parameters
    ----------
    input
        The tensor x, of any shape; integers are converted to floats.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.special.ndtr(ac.tensor([0.0, 1.96]))
    tensor([0.5000, 0.9750])
    """
    x = comparison.float_input("ndtr", input)
    tail = erfc(arithmetic.mul(x, -math.sqrt(0.5)))
    return arithmetic.mul(tail, 0.5)


log_ndtr = unary(
    "log_ndtr",
    "log(ndtr(x)), also accurate where `ndtr` is close to 0",
    saves="a",
    place="special.",
    example=("[0.0, -10.0]", "[ -0.6931, -53.2313]"),
)


@log_ndtr.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return the density divided by `ndtr`; 0 where the density underflows."""
    (x,) = n.saved
    zero, end = (k.constant(c, x) for c in (0, 37 if k.dtype(x).itemsize == 8 else 13))
    gone = k.compare(x, end, "gt")
    scaled = k.erfcx(k.mul(k.where(gone, zero, x), k.constant(-math.sqrt(0.5), x)))
    slope = k.div(k.constant(math.sqrt(2 / math.pi), x), scaled)
    return k.mul(g, k.where(gone, zero, slope))


xlog1py_op = binary("xlog1py", "x log(1 + y)", saves="a b")


@xlog1py_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivatives of a log(1 + b) are log(1 + b) and a / (1 + b).

    They are 0 where a is 0 and they would be infinite.
    """
    a, b = n.saved
    zero, one = k.constant(0, g), k.constant(1, g)
    above = k.compare(b, k.constant(-1, g), "gt")
    inside = k.compare(b, k.constant(math.inf, g), "lt")
    endless = k.compare(above, inside, "ne")  # for numbers: <= -1, or infinite
    known = k.compare(b, b, "eq")
    nothing = k.bitwise_and(k.compare(a, zero, "eq"), k.bitwise_and(endless, known))
    safe = k.where(nothing, zero, b)
    da = db = None
    if n.needs(0):
        da = k.sum_to(k.weigh(g, k.log1p(safe)), n.shapes[0])
    if n.needs(1):
        slope = k.where(nothing, zero, k.div(a, k.add(one, safe)))
        db = k.sum_to(k.weigh(g, slope), n.shapes[1])
    return da, db


_xlog1py_op = binary("xlog1py", "x log(1 + y)", saves="a b", main=False)


@_xlog1py_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivatives of a log(1 + b) are log(1 + b) and a / (1 + b), as in PyTorch.

    The first is 0 where a is 0 and b <= -1; the second is NaN where a is 0 and b is -1.
    """
    a, b = n.saved
    zero, one = k.constant(0, g), k.constant(1, g)
    da = db = None
    if n.needs(0):
        below = k.compare(b, k.constant(-1, g), "le")
        none = k.bitwise_and(k.compare(a, zero, "eq"), below)
        da = k.sum_to(k.where(none, zero, k.xlog1py(g, b)), n.shapes[0])
    if n.needs(1):
        db = k.sum_to(k.div(k.mul(g, a), k.add(b, one)), n.shapes[1])
    return da, db


def weighed_log1p(input: Tensor, other: Tensor) -> Tensor:
    """Return x log(1 + y) with slopes of 0 where x is 0 and log(1 + y) infinite."""
    return xlog1py_op(*comparison.float_inputs("xlog1py", input, other))


@traced(light=True)
@rounded_once
def xlog1py(input: Operand, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return x log(1 + y), which is 0 where x is 0 and y is not NaN.

    Parameters
    ----------
    input
        The factor x, a tensor or a number.
    other
        The argument y, a tensor or a number.  One of the two must be a tensor; shapes
        are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If neither operand is a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.special.xlog1py(ac.tensor([0.0, 2.0]), ac.tensor([-1.0, 1.0]))
    tensor([0.0000, 1.3863])
    """
    x, y = comparison.float_inputs("xlog1py", input, other)
    return _xlog1py_op(x, y)
