# SPDX-License-Identifier: MIT
"""Rounding: floor, ceil, trunc, round."""

from __future__ import annotations

import builtins
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.factories import OfOne, documented, nary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int
from autocalc.errors import DTypeError

round_op = nary("round")


@round_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.zeros(n.shapes[0], k.dtype(g))


_DIRECTIONS = {
    "floor": "down to an integer",
    "ceil": "up to an integer",
    "trunc": "towards 0 to an integer",
    "even": "to the nearest integer",
}


def _round_mode(mode: str, example: tuple[str, ...] = ()) -> OfOne:
    """Make floor, ceil, trunc or round; integers are returned unchanged."""
    where = "round" if mode == "even" else mode

    def call(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if not check_tensor(mode, input).dtype.is_differentiable:
            _no_booleans(where, input)
            return view.clone(input)
        return round_op(input, mode)

    call.__name__ = call.__qualname__ = mode
    doc = f"Return x rounded {_DIRECTIONS[mode]}, element by element."
    call.__doc__ = documented(mode, doc, ("input",), example)
    return call


def _no_booleans(where: str, x: Tensor) -> None:
    if x.dtype is dtypes.bool_:
        message = f"{where}: a tensor of bool is not rounded; convert it with .long()."
        raise DTypeError(message)


floor = method("floor", inplace="floor_")(
    traced(_round_mode("floor", example=("[1.5, -1.5]", "[ 1., -2.]")), light=True)
)


ceil = method("ceil", inplace="ceil_")(
    traced(_round_mode("ceil", example=("[1.5, -1.5]", "[ 2., -1.]")), light=True)
)


trunc = method("trunc fix", inplace="trunc_ fix_")(
    traced(_round_mode("trunc", example=("[1.5, -1.5]", "[ 1., -1.]")), light=True)
)


_nearest = _round_mode("even")


@method("round", inplace="round_")
@traced
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Return `input` rounded to `decimals` digits; halves are rounded to even digits.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    decimals
        The number of digits after the decimal point; negative numbers round to tens,
        hundreds and so on.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.round(ac.tensor([0.5, 1.5, -1.2]))
    tensor([ 0.,  2., -1.])
    """
    decimals = as_int("round", "decimals", decimals)
    if decimals == 0:
        return _nearest(input)
    check_float("round", input)  # PyTorch has no `decimals` for integers
    scale = 10.0 ** builtins.abs(decimals)
    if decimals > 0:
        result = _nearest(input * scale) / scale
    else:
        result = _nearest(input / scale) * scale
    return result


@method("frac", inplace="frac_")
@traced
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return x - trunc(x), element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.frac(ac.tensor([1.5, -1.25]))
    tensor([ 0.5000, -0.2500])
    """
    check_float("frac", input)
    whole = trunc(input)
    return input - whole
