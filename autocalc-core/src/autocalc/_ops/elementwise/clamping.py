# SPDX-License-Identifier: MIT
"""Maximum and minimum of two operands, and values clamped between limits."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.selection.arrays import constant
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import Operand, check_tensor
from autocalc._ops._operator.coerce import coerce
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import Binary, binary, nary
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import leave_base
from autocalc._ops.elementwise import arithmetic, bitwise
from autocalc._ops.elementwise._ternary import ternary
from autocalc._ops.views.complex_views import complex_view, pairs_view
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import number
from autocalc._tensor.limits import finfo
from autocalc.errors import ArgumentError, DTypeError


def _extremum(name: str, doc: str, **more: Any) -> Binary:
    """Make maximum or minimum; where both are equal, each gets half of g."""
    operator = binary(name, doc, saves="a b", numbers=False, **more)
    loses = "lt" if name == "maximum" else "gt"

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        a, b = n.saved
        zero, half = k.constant(0, g), k.mul(g, k.constant(0.5, g))
        shared = k.where(k.compare(a, b, "eq"), half, g)  # with NaN, both get all of g
        da = db = None
        if n.needs(0):
            da = k.where(k.compare(a, b, loses), zero, shared)
            da = k.sum_to(da, n.shapes[0])
        if n.needs(1):
            db = k.where(k.compare(b, a, loses), zero, shared)
            db = k.sum_to(db, n.shapes[1])
        return da, db

    return operator


maximum = method("maximum")(
    _extremum(
        "maximum",
        "the larger of x and y",
        example=("[1.0, 5.0]", "[3.0, 4.0]", "[3., 5.]"),
    )
)


minimum = method("minimum")(
    _extremum(
        "minimum",
        "the smaller of x and y",
        example=("[1.0, 5.0]", "[3.0, 4.0]", "[1., 4.]"),
    )
)


def _extremum_of_numbers(name: str, doc: str, first: str, **more: Any) -> Binary:
    """Make fmax or fmin; x gets all of g where it compares so, or where y is NaN."""
    operator = binary(name, doc, saves="a b", numbers=False, **more)

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        a, b = n.saved
        of_a = k.bitwise_or(k.compare(a, b, first), k.compare(b, b, "ne"))
        zero = k.constant(0, g)
        return (
            k.sum_to(k.where(of_a, g, zero), n.shapes[0]) if n.needs(0) else None,
            k.sum_to(k.where(of_a, zero, g), n.shapes[1]) if n.needs(1) else None,
        )

    return operator


fmax = _extremum_of_numbers(
    "fmax",
    "the larger of x and y (if one of them is NaN, the other one)",
    "ge",
    methods="fmax",
    example=("[1.0, ac.nan]", "[0.0, 2.0]", "[1., 2.]"),
)


fmin = _extremum_of_numbers(
    "fmin",
    "the smaller of x and y (if one of them is NaN, the other one)",
    "le",
    methods="fmin",
    example=("[1.0, ac.nan]", "[0.0, 2.0]", "[0., 2.]"),
)


clamp_op = ternary("clamp", saves="a low high", like=0)


@clamp_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Send g to the input inside the limits, and outside to the limit that applies."""
    a, low, high = n.saved
    if not (n.needs(1) or n.needs(2)) and n.shapes[0] == g.shape:
        return k.clamp_backward(g, a, low, high), None, None
    zero = k.constant(0, g)
    da, dlow, dhigh = g, None, None
    both = low is not None and high is not None
    if high is not None:
        if n.needs(2):
            over = k.compare(a, high, "gt")
            if both:  # `high` is the result wherever it is below `low`
                over = k.bitwise_or(over, k.compare(high, low, "lt"))
            dhigh = k.sum_to(k.where(over, g, zero), n.shapes[2])
        da = k.where(k.compare(a, high, "le"), da, zero)
    if low is not None:
        if n.needs(1):
            under = k.compare(a, low, "lt")
            if both:
                under = k.bitwise_and(under, k.compare(low, high, "lt"))
            dlow = k.sum_to(k.where(under, g, zero), n.shapes[1])
        da = k.where(k.compare(a, low, "ge"), da, zero)
    return k.sum_to(da, n.shapes[0]) if n.needs(0) else None, dlow, dhigh


def _clamped(where: str, input: Tensor, low: Any, high: Any) -> Tensor:
    """Return values clamped between two limits; one of them may be None."""
    if low is None and high is None:
        raise ArgumentError(
            f"{where}: At least one of 'min' or 'max' must not be None; give a number "
            "or a tensor."
        )
    limits = _usual_limits(input, low, high)
    if limits is not None:
        return clamp_op(input, *limits)
    given = [limit for limit in (low, high) if limit is not None]
    _check_limits(where, given)
    operands = iter(coerce(where, check_tensor(where, input), *given))
    x = next(operands)
    low, high = (None if limit is None else next(operands) for limit in (low, high))
    if x.dtype is dtypes.bool_ and isinstance(given[0], Tensor):
        return _clamped_booleans(x, low, high)
    return clamp_op(x, low, high)


#: For each kind of dtype, the classes of limits that do not change the dtype.
_INTEGERS = frozenset({int, bool, type(None)})
_LIMITS = dict.fromkeys("iu", _INTEGERS) | dict.fromkeys(
    FLOAT_KINDS, _INTEGERS | {float}
)


def _usual_limits(x: Any, low: Any, high: Any) -> tuple[Tensor | None, ...] | None:
    """Return limits that are numbers as tensors of the dtype of `x`.

    Return None if the limits are anything else, or would change the dtype.
    """
    if not isinstance(x, Tensor):
        return None
    dtype = x._array.dtype
    usual = _LIMITS.get(dtype.kind, ())
    if low.__class__ not in usual or high.__class__ not in usual:
        return None
    return (
        None if low is None else make(constant(low, dtype), None),
        None if high is None else make(constant(high, dtype), None),
    )


def _check_limits(where: str, limits: list[Any]) -> None:
    """Raise if one limit is a number and the other a tensor with dimensions."""
    tensors = [limit for limit in limits if isinstance(limit, Tensor)]
    if len(tensors) == 1 < len(limits) and tensors[0].ndim:
        raise DTypeError(
            f"{where}: one limit is a number, and the other a tensor of shape "
            f"{tensors[0].shape}; both must be numbers, or both tensors."
        )


def _clamped_booleans(x: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor:
    if low is not None:
        x = bitwise.bitwise_or(x, low)
    return x if high is None else bitwise.bitwise_and(x, high)


@method("clamp clip", inplace="clamp_ clip_")
@traced(light=True)
def clamp(
    input: Tensor,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return min(max(input, min), max), element by element; NaN remains NaN.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    min
        The lower limit, a number or a tensor; None for no lower limit.
    max
        The upper limit, a number or a tensor; None for no upper limit.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If neither limit is given.
    DTypeError
        If one limit is a number, and the other one is a tensor that has dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.clamp(ac.tensor([-2.0, 0.5, 3.0]), 0.0, 1.0)
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _clamped("clamp", input, min, max)


@method("clamp_min", inplace="clamp_min_")
@declared
def clamp_min(input: Tensor, min: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return max(input, min), element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    min
        The lower limit, a number or a tensor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.clamp_min(ac.tensor([-2.0, 0.5]), 0.0)
    tensor([0.0000, 0.5000])
    """
    return _clamped("clamp_min", input, min, None)


@method("clamp_max", inplace="clamp_max_")
@declared
def clamp_max(input: Tensor, max: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return min(input, max), element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    max
        The upper limit, a number or a tensor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.clamp_max(ac.tensor([0.5, 3.0]), 1.0)
    tensor([0.5000, 1.0000])
    """
    return _clamped("clamp_max", input, None, max)


@method("nan_to_num", inplace="nan_to_num_")
@traced
def nan_to_num(
    input: Tensor,
    nan: float | None = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `input` with NaN, infinity and -infinity replaced by numbers.

    By default, NaN becomes 0, infinity becomes the largest finite number of the dtype,
    and -infinity becomes the smallest one.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    nan
        The number that replaces NaN.
    posinf
        The number that replaces infinity; by default the largest finite number of the
        dtype.
    neginf
        The number that replaces -infinity; by default the smallest finite number of the
        dtype.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nan_to_num(ac.tensor([1.0, ac.nan]))
    tensor([1., 0.])
    """
    x = check_tensor("nan_to_num", input)
    for name, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if value is not None:
            number("nan_to_num", name, value)
    if x.is_complex():
        pairs = nan_to_num(pairs_view(x), nan, posinf, neginf)
        joined = complex_view(pairs)
        leave_base(joined)
        return joined
    if not x.is_floating_point():
        return arithmetic.add_op(x, 0) if x.dtype is not dtypes.bool_ else x.clone()
    largest = _largest(x)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    return _nan_to_num_op(x, float(nan or 0.0), float(high), float(low))


_nan_to_num_op = nary("nan_to_num", saves="a")


@_nan_to_num_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    infinity = k.constant(math.inf, g)
    finite = k.compare(k.abs(n.saved[0]), infinity, "lt")
    return k.where(finite, g, k.constant(0, g))


def _largest(x: Tensor) -> float:
    """Return the largest finite number of a float dtype."""
    return float(finfo(x.dtype).max)
