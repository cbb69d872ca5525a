# SPDX-License-Identifier: MIT
"""Reductions of truth values, and equality of whole tensors."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import recordings
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.coerce import not_a_tensor
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import bitwise, comparison
from autocalc._ops.reductions import reduction
from autocalc._tensor import Tensor


def _truth(where: str, x: Any) -> Tensor:
    """Return whether each element of a tensor is not zero."""
    try:
        if x._array.dtype.kind == "b":
            return x  # type: ignore[no-any-return]  # a tensor
    except AttributeError:
        raise not_a_tensor(where, x) from None
    return comparison.ne(x, 0)


@method("logical_and", inplace="logical_and_")
@traced
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether both operands are non-zero, element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The second operand, a tensor; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logical_and(ac.tensor([True, True]), ac.tensor([True, False]))
    tensor([ True, False])
    """
    a, b = _truth("logical_and", input), _truth("logical_and", other)
    return bitwise.bitwise_and(a, b)


@method("logical_or", inplace="logical_or_")
@traced
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether at least one operand is non-zero, element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The second operand, a tensor; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logical_or(ac.tensor([False, True]), ac.tensor([False, False]))
    tensor([False,  True])
    """
    a, b = _truth("logical_or", input), _truth("logical_or", other)
    return bitwise.bitwise_or(a, b)


@method("logical_xor", inplace="logical_xor_")
@traced
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether exactly one operand is non-zero, element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The second operand, a tensor; shapes are broadcast.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logical_xor(ac.tensor([True, True]), ac.tensor([True, False]))
    tensor([False,  True])
    """
    a, b = _truth("logical_xor", input), _truth("logical_xor", other)
    return bitwise.bitwise_xor(a, b)


@method("logical_not", inplace="logical_not_")
@traced(light=True)
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return whether x is zero, element by element.

    Parameters
    ----------
    input
        The tensor x, of any shape.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logical_not(ac.tensor([0, 3]))
    tensor([ True, False])
    """
    if check_tensor("logical_not", input)._array.dtype.kind == "b":
        result = bitwise.bitwise_not(input)
    else:
        result = comparison.eq(input, 0)
    return result


@method("equal")
def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    other
        The tensor to compare with.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.equal(ac.tensor([1, 2]), ac.tensor([1, 2]))
    True
    """
    try:
        a, b = input._array, other._array
        if a.shape != b.shape:
            return False
    except AttributeError:
        check_tensor("equal", input), check_tensor("equal", other)
        raise
    if a.dtype is b.dtype and not recordings:
        return arrays.equal(a, b).item()  # type: ignore[no-any-return]  # of a bool
    return bool(reduction.all(comparison.eq(input, other)).item())


@method("allclose")
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Return whether ``|input - other| <= atol + rtol * |other|`` for all elements.

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
        True to count two NaN as close.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.allclose(ac.tensor([1.0]), ac.tensor([1.0 + 1e-7]))
    True
    """
    return bool(reduction.all(comparison.isclose(input, other, rtol, atol, equal_nan)))
