# SPDX-License-Identifier: MIT
"""Activations that replace small values: threshold, hardshrink, softshrink."""

from __future__ import annotations

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.indexing import masking
from autocalc._ops.views import _writing
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, require


@traced
def threshold(
    input: Tensor, threshold: float, value: float, inplace: bool = False
) -> Tensor:
    """Return `input` where it is above `threshold`, and `value` elsewhere.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    threshold
        The limit: elements that are not above it are replaced.
    value
        The number that replaces these elements.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.threshold(ac.tensor([0.5, 2.0]), 1.0, -1.0)
    tensor([-1.,  2.])
    """
    return _with_floor(input, threshold, value, inplace)


def _with_floor(input: Tensor, threshold: float, value: float, inplace: bool) -> Tensor:
    refuse_booleans("threshold", check_tensor("threshold", input))
    limit = number("threshold", "threshold", threshold)
    number("threshold", "value", value)
    return _writing.maybe_into(
        input,
        lambda x: masking.masked_fill(x, comparison.le(x, limit), value),
        inplace,
        "threshold_",
    )


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Set elements of `input` that are not above `threshold` to `value`, in place.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    threshold
        The limit: elements up to it are replaced.
    value
        The number that replaces these elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([0.5, 2.0])
    >>> ac.nn.functional.threshold_(x, 1.0, -1.0) is x, x
    (True, tensor([-1.,  2.]))
    """
    return _with_floor(input, threshold, value, True)


@method("hardshrink")
@traced
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return `input` where abs(input) is above `lambd`, and 0 elsewhere.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    lambd
        The limit: elements between -lambd and lambd become 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.hardshrink(ac.tensor([-2.0, 0.25, 1.0]))
    tensor([-2.,  0.,  1.])
    """
    check_float("hardshrink", input)
    size = arithmetic.abs(input.detach())
    small = comparison.le(size, number("hardshrink", "lambd", lambd))
    return masking.masked_fill(input, small, 0.0)


@traced
@rounded_once
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return sign(input) * max(abs(input) - lambd, 0), element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    lambd
        The limit, 0 or more.

    Raises
    ------
    ArgumentError
        If `lambd` is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.softshrink(ac.tensor([-2.0, 0.25, 1.0]))
    tensor([-1.5000,  0.0000,  0.5000])
    """
    check_float("softshrink", input)
    lambd = number("softshrink", "lambd", lambd)
    require("softshrink", "lambd", lambd, lambd >= 0, "0 or more")
    return arithmetic.sub_op(input, clamping.clamp(input, -lambd, lambd))
