# SPDX-License-Identifier: MIT
"""Comparisons, tests of single elements, and the choice by a condition."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.device import dtype_near, place_of
from autocalc._dispatch.engine.eager import elementwise
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.layout import empty_as
from autocalc._dispatch.selection.state import current
from autocalc._kernels.rules import broadcast_shapes
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.arguments import Operand, check_tensor
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import (
    array_beside,
    beside,
    cast,
    coerce,
    coerce_two,
    not_a_tensor,
    same_dtype,
    to_float,
)
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import binary, documented, nary
from autocalc._ops._operator.method import is_foreign, method
from autocalc._ops._operator.out import copy_to_out
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, bitwise
from autocalc._ops.elementwise._ternary import ternary
from autocalc._ops.views.complex_views import imaginary_view, real_view
from autocalc._tensor import Tensor, dtypes, make
from autocalc.errors import DTypeError

compare_op = nary("compare", differentiable=False)


_general = KernelCall(TABLE["compare"])


def _comparison(
    op: str, symbol: str, *, foreign: Callable[[Any], bool], example: tuple[str, ...]
) -> Callable[..., Tensor]:
    """Make a comparison; its operator returns NotImplemented for foreign operands.

    There is one frame from the user's call to the kernel, as in `binary`.
    """
    index, attributes, boolean = _general.index, (op,), dtypes.bool_.numpy

    def form(as_operator: bool) -> Callable[..., Any]:
        def call(input: Tensor, other: Operand, *, out: Tensor | None = None) -> Tensor:
            if out is not None:
                return copy_to_out(op, call(input, other), out)
            x: Any = input
            y: Any = other
            try:
                a = x._array
            except AttributeError:
                raise not_a_tensor(op, x) from None
            b = array_beside(a, y)
            if b is None and as_operator and foreign(y):
                return NotImplemented  # type: ignore[no-any-return]
            dtype = a.dtype
            if b is None or b.dtype is not dtype:
                return call(*coerce(op, x, y))
            selection = current().selection
            kernel = selection.tables[index].get((op, dtype))
            if kernel is None:
                kernel = _general.first(selection, (op, dtype), (a, b), attributes)
            shape = a.shape
            if shape != b.shape:
                shape = broadcast_shapes("compare", shape, b.shape)
            truth_value = dtype_near(a, boolean)
            if len(shape) == 4:
                z = empty_as(selection.empty, shape, truth_value, a, b)
            else:
                z = selection.empty(shape, truth_value)
            kernel(z, a, b, op)
            return make(z, None)

        numbers = False, True
        known: Any = {"numbers": numbers, "word": op, "dtype": boolean}
        return elementwise("tensors", 2, index, **known)(call)

    doc = f"Return whether x {symbol} y, element by element; shapes broadcast."
    python: Any = form(as_operator=True)
    python.__doc__ = doc
    method(f"__{op}__")(python)
    function: Any = form(as_operator=False)
    function.__name__ = function.__qualname__ = op
    function.__doc__ = documented(op, doc, ("input", "other"), example)
    return function  # type: ignore[no-any-return]  # Any, to hang names on it


def _unequal(other: object) -> bool:
    """Return whether `other` cannot be compared, so that no tensor equals it."""
    return not (isinstance(other, (int, float, list)) or hasattr(other, "__array__"))


eq = method("eq", inplace="eq_")(
    _comparison(
        "eq",
        "==",
        foreign=_unequal,
        example=("[1.0, 2.0]", "[1.0, 3.0]", "[ True, False]"),
    )
)


ne = method("ne not_equal", inplace="ne_ not_equal_")(
    _comparison(
        "ne",
        "!=",
        foreign=_unequal,
        example=("[1.0, 2.0]", "[1.0, 3.0]", "[False,  True]"),
    )
)


lt = method("lt less", inplace="lt_ less_")(
    _comparison(
        "lt",
        "<",
        foreign=is_foreign,
        example=("[1.0, 2.0]", "[1.0, 3.0]", "[False,  True]"),
    )
)


le = method("le less_equal", inplace="le_ less_equal_")(
    _comparison(
        "le",
        "<=",
        foreign=is_foreign,
        example=("[1.0, 2.0]", "[1.0, 3.0]", "[True, True]"),
    )
)


gt = method("gt greater", inplace="gt_ greater_")(
    _comparison(
        "gt",
        ">",
        foreign=is_foreign,
        example=("[1.0, 2.0]", "[1.0, 3.0]", "[False, False]"),
    )
)


ge = method("ge greater_equal", inplace="ge_ greater_equal_")(
    _comparison(
        "ge",
        ">=",
        foreign=is_foreign,
        example=("[1.0, 2.0]", "[1.0, 3.0]", "[ True, False]"),
    )
)


@method("isclose")
@traced
def isclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Return whether abs(input - other) <= atol + rtol * abs(other), for each element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The tensor to compare with.
    rtol
        The tolerance relative to `other`.
    atol
        The absolute tolerance.
    equal_nan
        True to treat two NaN as close.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isclose(ac.tensor([1.0, 2.0]), ac.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    a, b = same_dtype("isclose", input, other)
    close = eq(a, b)
    if equal_nan:
        close = bitwise.bitwise_or(close, bitwise.bitwise_and(isnan(a), isnan(b)))
    x, y = (t.detach() if t.is_floating_point() else to_float(t) for t in (a, b))
    difference = arithmetic.abs(arithmetic.sub_op(x, y))
    bound = arithmetic.add_op(arithmetic.mul(arithmetic.abs(y), rtol), atol)
    near = bitwise.bitwise_and(
        isfinite(difference), le(difference, cast(bound, difference.dtype))
    )
    return bitwise.bitwise_or(close, near)


@method("isnan")
def isnan(input: Tensor) -> Tensor:
    """Return whether x is NaN, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isnan(ac.tensor([1.0, ac.nan]))
    tensor([False,  True])
    """
    return ne(check_tensor("isnan", input), input)


@method("isinf")
def isinf(input: Tensor) -> Tensor:
    """Return whether x is infinite, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isinf(ac.tensor([1.0, -ac.inf]))
    tensor([False,  True])
    """
    if check_tensor("isinf", input).is_complex():
        return bitwise.bitwise_or(isinf(real_view(input)), isinf(imaginary_view(input)))
    if not input.is_floating_point():
        return ne(input, input)
    return eq(arithmetic.abs(input.detach()), math.inf)


@method("isfinite")
def isfinite(input: Tensor) -> Tensor:
    """Return whether x is neither infinite nor NaN, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isfinite(ac.tensor([1.0, ac.inf, ac.nan]))
    tensor([ True, False, False])
    """
    if check_tensor("isfinite", input).is_complex():
        parts = isfinite(real_view(input)), isfinite(imaginary_view(input))
        return bitwise.bitwise_and(*parts)
    if not input.is_floating_point():
        return eq(input, input)
    return lt(arithmetic.abs(input.detach()), math.inf)


where_op = ternary("where", saves="condition", like=1)


@where_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    (condition,) = n.saved
    zero = k.constant(0, g)
    da = db = None
    if n.needs(1):
        da = k.sum_to(k.where(condition, g, zero), n.shapes[1])
    if n.needs(2):
        db = k.sum_to(k.where(condition, zero, g), n.shapes[2])
    return None, da, db


def choose(condition: Tensor, a: Operand, b: Operand) -> Tensor:
    return where_op(condition, *coerce_two("where", a, b))


def float_input(where: str, x: Any) -> Tensor:
    """Return a tensor, with integers converted to floats."""
    tensor = check_tensor(where, x)
    return tensor if tensor.is_floating_point() else to_float(tensor)


def float_inputs(where: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Return two operands as floats of one dtype."""
    x, y = coerce(where, a, b)
    return (x, y) if x.is_floating_point() else (to_float(x), to_float(y))


def float_tensors(where: str, a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Return two tensors, at least one of them of floats, as floats of one dtype."""
    x, y = coerce(where, check_tensor(where, a), check_tensor(where, b))
    check_float(where, x, y)
    return x, y


@method("isposinf")
@traced(light=True)
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is infinity, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isposinf(ac.tensor([ac.inf, -ac.inf]))
    tensor([ True, False])
    """
    x = float_input("isposinf", input).detach()
    return eq(x, math.inf)


@method("isneginf")
@traced(light=True)
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is -infinity, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.isneginf(ac.tensor([ac.inf, -ac.inf]))
    tensor([False,  True])
    """
    x = float_input("isneginf", input).detach()
    return eq(x, -math.inf)


@method("signbit")
@traced(light=True)
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether the sign bit is set: x is negative, or it is -0.0.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.signbit(ac.tensor([1.0, -0.0]))
    tensor([False,  True])
    """
    x = check_tensor("signbit", input).detach()
    if not x.is_floating_point():
        result = truth(x) if x.dtype is dtypes.bool_ else lt(x, 0)
        return lt(cast(result, dtypes.int8), 0) if x is result else result
    return _signbit_op(x)


_signbit_op = nary("signbit", differentiable=False)
_copysign_op = binary("copysign", "the size of x with the sign of y", saves="a b")


@_copysign_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return g, or -g where the sign changes; 0 where x is 0 and jumps."""
    a, b = n.saved
    zero = k.constant(0, g)
    sign = k.mul(k.sign(a), k.copysign(k.constant(1, g), b))
    sign = k.where(k.compare(a, zero, "eq"), zero, sign)  # avoids -0
    return (
        k.sum_to(k.mul(g, sign), n.shapes[0]) if n.needs(0) else None,
        k.zeros(n.shapes[1], k.dtype(g)) if n.needs(1) else None,
    )


@method("copysign", inplace="copysign_")
@declared
def copysign(input: Tensor, other: Operand, *, out: Tensor | None = None) -> Tensor:
    """Return the absolute value of x with the sign of y, element by element.

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
    >>> ac.copysign(ac.tensor([1.0, 2.0]), ac.tensor([-1.0, 1.0]))
    tensor([-1.,  2.])
    """
    return _copysign_op(
        *float_inputs("copysign", check_tensor("copysign", input), other)
    )


_heaviside_op = binary("heaviside", "the step of x, y at 0", saves="a:b")


@_heaviside_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    here = k.compare(n.saved[0], k.constant(0, g), "eq")
    return None, k.sum_to(k.where(here, g, k.constant(0, g)), n.shapes[1])


@method("heaviside", inplace="heaviside_")
@traced(light=True)
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return 0 where x is negative, 1 where it is positive, and `values` where it is 0.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    values
        The result where x is 0; its shape is broadcast with that of `input`.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If the dtypes differ.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.heaviside(ac.tensor([-1.0, 0.0, 2.0]), ac.tensor([0.5]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    x, at_zero = check_tensor("heaviside", input), check_tensor("heaviside", values)
    if x._array.dtype is not at_zero._array.dtype:
        place = place_of("heaviside", x._array, at_zero._array)
        if place is not None and x.dtype is at_zero.dtype:
            return heaviside(beside(x, place), beside(at_zero, place), out=out)
        raise DTypeError(
            f"heaviside is not yet implemented for tensors with different dtypes. They "
            f"are {x.dtype.name} and {at_zero.dtype.name}; convert one with .to(...)."
        )
    if x._edge is not None:
        x = x.detach()
    return _heaviside_op(x, at_zero)


def truth(x: Any) -> Tensor:
    """Return whether each element of x is not zero."""
    return x if x.dtype is dtypes.bool_ else ne(x.detach(), 0)
