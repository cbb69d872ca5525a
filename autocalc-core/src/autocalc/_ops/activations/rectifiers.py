# SPDX-License-Identifier: MIT
"""The ReLU family: piecewise activations."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.factories import nary, unary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, clamping, comparison
from autocalc._ops.views import _writing, view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, check_flag, number
from autocalc.errors import ArgumentError, DTypeError, ShapeError

relu_op = unary(
    "relu",
    "max(x, 0)",
    saves="out",
    floats=False,
    methods="relu",
    inplace="relu_",
    example=("[-1.0, 2.0]", "[0., 2.]"),
)
relu_op.__qualname__ = "relu_op"  # pickle looks it up here


@relu_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.relu_backward(g, n.saved[0])


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(input, 0), element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input` and return `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.relu(ac.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    if inplace.__class__ is not FLAG:
        inplace = check_flag("relu", "inplace", inplace)
    return _writing.kernel_into(relu_op, input, (), inplace, "relu_")


def relu_(input: Tensor) -> Tensor:
    """Set the negative elements of `input` to 0, in place; return it.

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-1.0, 2.0])
    >>> ac.nn.functional.relu_(x) is x, x
    (True, tensor([0., 2.]))
    """
    return relu(input, inplace=True)


# At the limits themselves the gradient is 0; that of `clamp` is not.
hardtanh_op = nary("hardtanh", saves="out")


@hardtanh_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.hardtanh_backward(g, n.saved[0], *n.attributes)


hardswish_op = nary("hardswish", saves="a")


@hardswish_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.hardswish_backward(g, n.saved[0])


leaky_relu_op = nary("leaky_relu", saves="a")


@leaky_relu_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.leaky_relu_backward(g, n.saved[0], *n.attributes)


elu_op = nary("elu", saves="a")


@elu_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.elu_backward(g, n.saved[0], *n.attributes)


@traced
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Return min(max(input, min_val), max_val), element by element.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    min_val
        The lower limit.
    max_val
        The upper limit.
    inplace
        True to write the result into the memory of `input`.

    Raises
    ------
    ArgumentError
        If `min_val` is above `max_val`.
    DTypeError
        If `input` is a tensor of integers whose dtype cannot hold the limits.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.hardtanh(ac.tensor([-2.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    check_tensor("hardtanh", input)
    min_val = float(number("hardtanh", "min_val", min_val))
    max_val = float(number("hardtanh", "max_val", max_val))
    if min_val > max_val:
        raise ArgumentError(
            f"hardtanh: `min_val`={min_val} is above `max_val`={max_val}; exchange "
            "them."
        )
    return _limited("hardtanh", input, min_val, max_val, inplace)


def _limited(where: str, x: Tensor, low: float, high: float, inplace: bool) -> Tensor:
    """Return x clamped between two limits, in its own dtype."""
    if x.is_floating_point():
        return _writing.kernel_into(hardtanh_op, x, (low, high), inplace, f"{where}_")
    _check_integers(where, x, low, high)
    low, high = int(low), int(high)
    return _writing.maybe_into(
        x, lambda x: clamping.clamp(x, low, high), inplace, f"{where}_"
    )


def _check_integers(where: str, x: Tensor, low: float, high: float) -> None:
    """Raise unless x holds integers and the limits are integers of its dtype."""
    refuse_booleans(where, x)
    wrong = not (low.is_integer() and high.is_integer())
    if wrong or (low < 0 and not x.dtype.is_signed):
        raise DTypeError(
            f"{where}: {low} to {high} cannot be the limits for a tensor of "
            f"{x.dtype.name}; convert it with .float()."
        )


@traced
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(input, 0), 6).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.relu6(ac.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """
    return _limited("relu6", check_tensor("relu6", input), 0.0, 6.0, inplace)


@traced
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return min(max(input + 3, 0), 6) / 6, a piecewise linear sigmoid.

    Howard and others: Searching for MobileNetV3 (ICCV 2019).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.hardsigmoid(ac.tensor([-3.0, 0.0, 3.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    check_float("hardsigmoid", input)
    return _writing.maybe_into(input, _hardsigmoid, inplace, "hardsigmoid_")


@one_node("hardsigmoid", "a", like="abs")
@traced
def _hardsigmoids(x: Tensor) -> Tensor:
    # Multiply by 1 / 6 and do not divide: 100,000 elements take 24 us, not 36, for 1
    # ULP.
    return arithmetic.mul(hardtanh_op(arithmetic.add_op(x, 3.0), 0.0, 6.0), 1 / 6)


@_hardsigmoids.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    share = k.mul(g, k.constant(1 / 6, g))
    return k.hardtanh_backward(share, n.saved[0], -3.0, 3.0)


_hardsigmoid = rounded_once(_hardsigmoids)


@traced
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input * hardsigmoid(input).

    Howard and others: Searching for MobileNetV3 (ICCV 2019).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.hardswish(ac.tensor([-3.0, 0.0, 3.0]))
    tensor([-0., 0., 3.])
    """
    check_float("hardswish", input)
    return _writing.kernel_into(hardswish_op, input, (), inplace, "hardswish_")


@traced
def leaky_relu(
    input: Tensor, negative_slope: float = 0.01, inplace: bool = False
) -> Tensor:
    """Return `input` where it is above 0, and negative_slope * input elsewhere.

    Maas, Hannun, Ng: Rectifier nonlinearities improve acoustic models (2013).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    negative_slope
        The factor of the elements that are not above 0.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.leaky_relu(ac.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    check_float("leaky_relu", input)
    slope = float(number("leaky_relu", "negative_slope", negative_slope))
    return _writing.kernel_into(leaky_relu_op, input, (slope,), inplace, "leaky_relu_")


def _sloped(x: Tensor, slope: Tensor | float) -> Tensor:
    above = comparison.gt(x, 0.0)
    return comparison.where_op(above, x, arithmetic.mul(x, slope))


@method("prelu")
@autocasts("lower")
@traced
@rounded_once
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return `input` where it is above 0, and weight * input elsewhere.

    He, Zhang, Ren, Sun: Delving deep into rectifiers (ICCV 2015).

    Parameters
    ----------
    input
        A tensor of shape (N, C, ...); with a single slope, a tensor of any shape.
    weight
        The slopes: a tensor of shape (C,) with one slope for each channel, or of shape
        (1,) or () with one slope for all channels.

    Raises
    ------
    ShapeError
        If the number of slopes is neither 1 nor C.
    DTypeError
        If `input` and `weight` do not have the same floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.prelu(ac.tensor([-1.0, 2.0]), ac.tensor([0.1]))
    tensor([-0.1000,  2.0000])
    """
    check_float("prelu", input, weight)
    same_dtype("prelu", input, weight)
    a, slopes = input._array, weight._array
    channels = a.shape[1] if a.ndim > 1 else 1
    if slopes.ndim > 1 or slopes.size not in (1, channels):
        raise ShapeError(
            f"prelu: `weight` has shape {weight.shape} for an input of shape "
            f"{input.shape}; it must hold 1 slope, or {channels} slopes, one for each "
            "channel."
        )
    if slopes.ndim == 1 and a.ndim != 1:
        ones = (1,) * (a.ndim - 2)
        shape = (1, slopes.size, *ones) if a.ndim else ()
        weight = view.reshape_op(weight, shape)
    return _sloped(input, weight)


@traced
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return `input` where it is above 0, and alpha * (exp(input) - 1) elsewhere.

    Clevert, Unterthiner, Hochreiter: Exponential linear units (ICLR 2016).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    alpha
        The factor of the exponential part.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.elu(ac.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    check_float("elu", input)
    alpha = number("elu", "alpha", alpha)
    return _writing.kernel_into(elu_op, input, (alpha, 1.0, 1.0), inplace, "elu_")


@traced
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return `input` where it is above 0, else alpha * (exp(input / alpha) - 1).

    Barron: Continuously differentiable exponential linear units (2017).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    alpha
        The factor of the exponential part, and the divisor of its exponent.
    inplace
        True to write the result into the memory of `input`.

    Raises
    ------
    ArgumentError
        If `alpha` is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.celu(ac.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    check_float("celu", input)
    alpha = number("celu", "alpha", alpha)
    if alpha == 0:
        message = (
            "celu: `alpha` is 0, but the input is divided by it; use another number."
        )
        raise ArgumentError(message)
    return _writing.kernel_into(
        elu_op, input, (alpha, 1 / alpha, 1.0), inplace, "celu_"
    )


#: The constants of selu.  With these, a layer keeps mean 0 and variance 1.
SELU_ALPHA = 1.6732632423543772


SELU_SCALE = 1.0507009873554805


_SELU = SELU_ALPHA, 1.0, SELU_SCALE


@traced
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return 1.0507 * elu(input, alpha=1.6733), the self-normalising linear unit.

    With these two constants, layers keep activations close to mean 0 and variance 1.
    Klambauer, Unterthiner, Mayr, Hochreiter: Self-normalizing neural networks
    (NeurIPS 2017).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.selu(ac.tensor([-1.0, 2.0]))
    tensor([-1.1113,  2.1014])
    """
    check_float("selu", input)
    return _writing.kernel_into(elu_op, input, _SELU, inplace, "selu_")
