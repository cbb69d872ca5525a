# SPDX-License-Identifier: MIT
"""Sums, products, quotients, powers, remainders, signs."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import Operand, check_older_order, check_tensor
from autocalc._ops._operator.checks import check_factor
from autocalc._ops._operator.coerce import (
    as_operand,
    cast,
    coerce,
    dtype_of,
    fast_scalar,
    result_dtype,
    tensor_first,
)
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import Binary, Unary, binary, unary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.kinds import elsewhere
from autocalc._ops._operator.method import method
from autocalc._ops._operator.out import copy_to_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic_rules, rounding
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import ArgumentError, DTypeError, NoDerivativeError

add_op = binary("add", "x + y", methods="__add__ __radd__")


@add_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (
        k.sum_to(g, n.shapes[0]) if n.needs(0) else None,
        k.sum_to(g, n.shapes[1]) if n.needs(1) else None,
    )


@method("add")
def add(
    input: Operand,
    other: Operand,
    tensor: Tensor | None = None,
    *,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return input + alpha * other.

    Parameters
    ----------
    input
        The first operand, a tensor or a number.
    other
        The second operand, a tensor or a number; its shape is broadcast with that of
        `input`.
    tensor
        The second operand in PyTorch's older order of arguments,
        ``add(input, alpha, tensor)``.
    alpha
        The number by which `other` is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.add(ac.tensor([1.0, 2.0]), ac.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
    """
    if tensor is not None:
        check_older_order("add", "alpha", other, tensor)
        alpha, other = other, tensor  # type: ignore[assignment]  # a number
    if alpha != 1 or alpha.__class__ in {float, bool}:
        result = _sum_of_multiple(input, other, alpha)
    else:
        result = add_op(input, other)
    return result if out is None else copy_to_out("add", result, out)


@traced
@rounded_once(promotes=True)
def _sum_of_multiple(input: Operand, other: Operand, alpha: Any) -> Tensor:
    if own := elsewhere("add", input, other):
        return own(input, other, alpha=alpha)  # type: ignore[no-any-return]  # a tensor
    return add_op(input, multiplied("add", input, other, alpha))


def _no_booleans(x: Any, y: Any) -> None:
    """Raise if an operand of a difference is boolean."""
    if dtypes.bool_ in (dtype_of("sub", x), dtype_of("sub", y)):
        raise DTypeError(
            "sub: an operand is boolean; write ~mask to invert a mask, or convert it "
            "with .long()."
        )


sub_op = binary(
    "sub",
    "x - y",
    mixed=_no_booleans,
    number_first=True,
    methods="__sub__",
    reflected="__rsub__",
)


@sub_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (
        k.sum_to(g, n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.neg(g), n.shapes[1]) if n.needs(1) else None,
    )


@method("sub subtract")
def sub(
    input: Operand,
    other: Operand,
    tensor: Tensor | None = None,
    *,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """Return input - alpha * other.

    Parameters
    ----------
    input
        The first operand, a tensor or a number.
    other
        The second operand, a tensor or a number; shapes are broadcast.
    tensor
        The second operand in PyTorch's older order of arguments,
        ``sub(input, alpha, tensor)``.
    alpha
        The number by which `other` is multiplied.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sub(ac.tensor([1.0, 2.0]), 1)
    tensor([0., 1.])
    """
    if tensor is not None:
        check_older_order("sub", "alpha", other, tensor)
        alpha, other = other, tensor  # type: ignore[assignment]  # a number
    if alpha != 1 or alpha.__class__ in {float, bool}:
        result = _without_multiple("sub", input, other, alpha)
    else:
        result = sub_op(input, other)
    return result if out is None else copy_to_out("sub", result, out)


def rsub(input: Tensor, other: Operand, *, alpha: float = 1) -> Tensor:
    """Return other - alpha * input.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The second operand, a tensor or a number; shapes are broadcast.
    alpha
        The factor of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.rsub(ac.tensor([1.0, 2.0]), 10)
    tensor([9., 8.])
    """
    check_tensor("rsub", input)
    if alpha != 1 or alpha.__class__ in {float, bool}:
        return _without_multiple("rsub", other, input, alpha)
    return sub_op(other, input)


@rounded_once(promotes=True)
def _without_multiple(where: str, input: Operand, other: Operand, alpha: Any) -> Tensor:
    _no_booleans(input, other)
    return sub_op(input, multiplied(where, input, other, alpha))


def multiplied(
    where: str, input: Operand, other: Operand, alpha: Any, name: str = "alpha"
) -> Tensor:
    """Return alpha * other, in the dtype that `input` and `other` promote to."""
    dtype = result_dtype(where, input, other)
    kind = dtype_of(where, alpha)
    check_factor(where, name, alpha, kind, dtype)
    return mul(as_operand(other, dtype), as_operand(alpha, dtype))


mul = binary(
    "mul",
    "x * y",
    saves="a:b b:a",
    methods="mul multiply __mul__ __rmul__",
    inplace="mul_ multiply_ __imul__",
    example=("[1.0, 2.0]", "[3.0, 4.0]", "[3., 8.]"),
)


@mul.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, b = n.saved
    return (
        k.sum_to(k.mul(g, b), n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.mul(g, a), n.shapes[1]) if n.needs(1) else None,
    )


div_op = binary(
    "div",
    "x / y",
    saves="a:b b",
    floats=True,
    methods="true_divide __truediv__",
    reflected="__rtruediv__ __rdiv__",
    example=("[1.0, 2.0]", "[4.0, 8.0]", "[0.2500, 0.2500]"),
)
div_op.__qualname__ = "div_op"  # pickle looks it up here


@div_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, b = n.saved
    over_b = k.div(g, b)
    db = None
    if n.needs(1):
        db = k.sum_to(k.neg(k.div(k.mul(over_b, a), b)), n.shapes[1])
    return k.sum_to(over_b, n.shapes[0]) if n.needs(0) else None, db


@method("div divide")
def div(
    input: Operand,
    other: Operand,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return input / other, optionally rounded to an integer.

    Parameters
    ----------
    input
        The dividend, a tensor or a number.
    other
        The divisor, a tensor or a number; shapes broadcast.
    rounding_mode
        None for the exact quotient, "floor" to round down, "trunc" to round towards 0.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If `rounding_mode` is not None, "floor" or "trunc".
    KernelDataError
        If an integer is divided by 0 and the quotient is rounded.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.div(ac.tensor([7.0, -7.0]), 2)
    tensor([ 3.5000, -3.5000])
    >>> ac.div(ac.tensor([7.0, -7.0]), 2, rounding_mode="floor")
    tensor([ 3., -4.])
    """
    if rounding_mode is None:
        result = div_op(input, other)
    elif rounding_mode == "floor":
        result = _floor_div(input, other)
    elif rounding_mode == "trunc":
        result = _trunc_divide(input, other)
    else:
        raise ArgumentError(
            f'div: `rounding_mode` is {rounding_mode!r}; it must be None, "floor" or '
            f'"trunc".'
        )
    return result if out is None else copy_to_out("div", result, out)


@rounded_once(promotes=True)
def _trunc_divide(input: Operand, other: Operand) -> Tensor:
    a, b = coerce("div", input, other)
    if a.is_floating_point():
        return rounding.round_op(_exact_div(a, b), "trunc")
    return _floor_div(sub_op(a, fmod(a, b)), b)


def _number_power(x: Any, y: Any) -> Tensor | None:
    """Return a boolean tensor to the power True or False; raise for 2 ** -1."""
    if isinstance(y, Tensor) or not isinstance(x, Tensor):
        return None
    usual = fast_scalar(x, y)
    if usual is not None:
        result: Tensor = pow_op(x, usual)
        return result
    if isinstance(y, bool) and x.dtype is dtypes.bool_:
        return add_op(x, not y)
    whole = not x.dtype.is_differentiable
    if whole and isinstance(y, (int, np.integer)) and y < 0:
        raise ArgumentError(
            f"pow: Integers to negative integer powers are not allowed. The exponent "
            f"{y} of a tensor of {x.dtype.name} has no integer "
            f"result; convert the tensor with .float() first."
        )
    return None


pow_op = binary(
    "pow",
    "x to the power y",
    saves="out:b a b",
    mixed=_number_power,
    usual=False,
    number_first=True,
    number_last=True,
    methods="__pow__",
    reflected="__rpow__",
)


@pow_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    y, a, b = n.saved
    one, zero = k.constant(1, g), k.constant(0, g)
    da = db = None
    if n.needs(0):
        da = k.sum_to(k.mul(g, arithmetic_rules.slope_of_power(k, a, b)), n.shapes[0])
    if n.needs(1):
        # y * log(a), but 0 where a = 0 and b >= 0: the limit, where log gives -inf
        limit = k.where(k.compare(b, zero, "ge"), one, a)
        log_a = k.log(k.where(k.compare(a, zero, "eq"), limit, a))
        db = k.sum_to(k.mul(k.mul(g, y), log_a), n.shapes[1])
    return da, db


pow_op.op.complex_rule = arithmetic_rules.power


@method("pow", inplace="pow_ __ipow__")
def pow(input: Operand, exponent: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return x to the power y, element by element; shapes are broadcast.

    Parameters
    ----------
    input
        The base x, a tensor or a number.
    exponent
        The exponent y, a tensor or a number; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.pow(ac.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    result: Tensor = pow_op(input, exponent)
    return result if out is None else copy_to_out("pow", result, out)


@method("float_power")
@declared
def float_power(
    input: Operand, exponent: Operand, *, out: Tensor | None = None
) -> Tensor:
    """Return x to the power y, computed in float64, element by element.

    Parameters
    ----------
    input
        The base x, a tensor or a number.
    exponent
        The exponent y, a tensor or a number; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.float_power(ac.tensor([1, 2, 3]), 2)
    tensor([1., 4., 9.], dtype=autocalc.float64)
    """
    kind = result_dtype("float_power", input, exponent)
    wide = dtypes.complex128 if kind.is_complex else dtypes.float64
    x, y = (as_operand(a, wide) for a in (input, exponent))
    return pow_op(x, y)


neg = unary(
    "neg",
    "-x",
    floats=False,
    methods="neg negative __neg__",
    inplace="neg_ negative_",
    example=("[-1.0, 2.0]", "[ 1., -2.]"),
)


@neg.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.neg(g)


@method("positive")
def positive(input: Tensor) -> Tensor:
    """Return `input` itself; boolean tensors raise an error.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Raises
    ------
    DTypeError
        If the tensor is boolean.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.positive(ac.tensor([1.0, -1.0]))
    tensor([ 1., -1.])
    """
    if check_tensor("positive", input).dtype is dtypes.bool_:
        message = "positive: a tensor of bool has no sign; convert it with .long()."
        raise DTypeError(message)
    return input


abs = unary(
    "abs",
    "the absolute value of x",
    saves="a",
    floats=False,
    methods="abs absolute __abs__",
    inplace="abs_ absolute_",
    example=("[-1.0, 2.0]", "[1., 2.]"),
)


@abs.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Multiply g by the sign of a; the sign of 0 and NaN is 0. No set has `sign`."""
    (a,) = n.saved
    zero, one, less = (k.constant(value, a) for value in (0, 1, -1))
    negative = k.where(k.compare(a, zero, "lt"), less, zero)
    return k.mul(g, k.where(k.compare(a, zero, "gt"), one, negative))


abs.op.complex_rule = arithmetic_rules.size


OperatorT = TypeVar("OperatorT", Unary, Binary)


def flat(operator: OperatorT) -> OperatorT:
    """Give an operator that is piecewise constant the derivative 0."""

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        zeros = tuple(
            k.zeros(shape, k.dtype(g)) if n.needs(i) else None
            for i, shape in enumerate(n.shapes)
        )
        return zeros if len(zeros) > 1 else zeros[0]

    return operator


sign = flat(
    unary(
        "sign",
        "1 where x is positive, 0 where it is 0, -1 where it is negative",
        floats=False,
        of_bool=lambda x: make(arrays.copy(x._array), None),
        methods="sign",
        inplace="sign_",
        example=("[-3.0, 0.0, 2.0]", "[-1.,  0.,  1.]"),
    )
)


@method("square", inplace="square_")
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return x * x, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.square(ac.tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    x = check_tensor("square", input)
    if x._array.dtype.kind == "b":
        x = cast(x, dtypes.int64)  # computed as x ** 2
    result = mul(x, x)
    return result if out is None else copy_to_out("square", result, out)


reciprocal = unary(
    "reciprocal",
    "1 / x",
    saves="out",
    methods="reciprocal",
    inplace="reciprocal_",
    example=("[2.0, 4.0]", "[0.5000, 0.2500]"),
)


@reciprocal.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out = n.saved[0]
    return k.neg(k.mul(g, k.mul(out, out)))


def _leftover(name: str, doc: str, mode: str, **more: Any) -> Binary:
    """Make a - b * round(a / b); the rounded quotient is piecewise constant."""
    operator = binary(name, doc, saves="a:b b:b", **more)

    @operator.vjp
    def _(k: Any, n: Any, g: Any) -> Any:
        db = None
        if n.needs(1):
            whole = k.round(k.div(*n.saved), mode)
            db = k.sum_to(k.neg(k.mul(g, whole)), n.shapes[1])
        return k.sum_to(g, n.shapes[0]) if n.needs(0) else None, db

    return operator


floor_divide = binary(
    "floor_divide",
    "floor(x / y)",
    methods="floor_divide __floordiv__",
    inplace="floor_divide_ __ifloordiv__",
    reflected="__rfloordiv__",
    example=("[7.0, -7.0]", "[2.0, 2.0]", "[ 3., -4.]"),
)


@floor_divide.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    raise NoDerivativeError(
        "floor_divide: has no derivative; use div(x, y, rounding_mode='floor'), whose "
        "derivative is 0, or detach() the operands."
    )


_floor_div = flat(binary("floor_divide", "floor(x / y)", main=False))
_exact_div = flat(binary("div", "x / y", main=False))  # derivatives 0, with rounding

fmod = method("fmod", inplace="fmod_")(
    _leftover(
        "fmod",
        "x - y * trunc(x / y), which has the sign of x",
        "trunc",
        mixed=tensor_first("fmod"),
        example=("[7.0, -7.0]", "[4.0, 4.0]", "[ 3., -3.]"),
    )
)

remainder = _leftover(
    "remainder",
    "x - y * floor(x / y), which has the sign of y",
    "floor",
    example=("[7.0, -7.0]", "[4.0, 4.0]", "[3., 1.]"),
    methods="remainder __mod__",
    inplace="remainder_ __imod__",
    reflected="__rmod__",
)
