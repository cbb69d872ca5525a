# SPDX-License-Identifier: MIT
"""Smooth activations: sigmoid, silu, gelu, softplus, mish, glu."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.arguments import axis_of, check_tensor
from autocalc._ops._operator.checks import check_approximate, check_float
from autocalc._ops._operator.factories import binary, nary, unary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, trigonometric
from autocalc._ops.views import _writing, slicing
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, check_flag, number
from autocalc.errors import ShapeError

sigmoid = unary(
    "sigmoid",
    "1 / (1 + e^-x)",
    saves="out",
    methods="sigmoid",
    inplace="sigmoid_",
    example=("[0.0, 2.0]", "[0.5000, 0.8808]"),
)


@sigmoid.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.sigmoid_backward(g, n.saved[0])


def _both_sigmoids(k: Any, a: Any) -> tuple[Any, Any]:
    return k.sigmoid(a), k.sigmoid(k.neg(a))


silu_op = unary("silu", "x / (1 + e^-x)", saves="a")


@silu_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.silu_backward(g, n.saved[0])


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input * sigmoid(input), element by element.

    The function is also called swish.  Elfwing, Uchibe, Doya: Sigmoid-weighted linear
    units (2017).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.silu(ac.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7311])
    """
    if inplace.__class__ is not FLAG:
        inplace = check_flag("silu", "inplace", inplace)
    if KINDS and (own := elsewhere("silu", input)) is not None:
        return own(input)  # type: ignore[no-any-return]  # a tensor
    check_float("silu", input)
    return _writing.kernel_into(silu_op, input, (), inplace, "silu_")


silu_backward = binary(
    "silu_backward", "x times the derivative of silu at y", saves="g:a a"
)


@silu_backward.vjp
def _(k: Any, n: Any, h: Any) -> Any:
    """Return f'' = s q (2 + a (q - s)), with s = sigmoid(a) and q = sigmoid(-a)."""
    g, a = n.saved
    da = None
    if n.needs(1):
        s, q = _both_sigmoids(k, a)
        second_derivative = k.add(k.mul(a, k.sub(q, s)), k.constant(2, a))
        da = k.mul(k.mul(h, g), k.mul(k.mul(s, q), second_derivative))
    return k.silu_backward(h, a) if n.needs(0) else None, da


gelu_op = nary("gelu", saves="a")


@gelu_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.gelu_backward(g, n.saved[0], *n.attributes)


gelu_backward = nary("gelu_backward", saves="g:a a")


@gelu_backward.vjp
def _(k: Any, n: Any, h: Any) -> Any:
    g, a = n.saved
    (approximate,) = n.attributes
    da = None
    if n.needs(1):
        exact = approximate == "none"
        second_derivative = (
            _gelu_second_derivative(k, a)
            if exact
            else _gelu_tanh_second_derivative(k, a)
        )
        da = k.mul(k.mul(h, g), second_derivative)
    return k.gelu_backward(h, a, approximate) if n.needs(0) else None, da


def _gelu_second_derivative(k: Any, a: Any) -> Any:
    """Return f'' = phi(a) (2 - a^2), where phi is the normal density."""
    square = k.mul(a, a)
    density = k.exp(k.mul(square, k.constant(-0.5, a)))
    peak = k.constant(1 / math.sqrt(2 * math.pi), a)
    return k.mul(k.mul(density, peak), k.sub(k.constant(2, a), square))


def _gelu_tanh_second_derivative(k: Any, a: Any) -> Any:
    """Return f'' = s q (2 z' + a (z'^2 (q - s) + z'')) for f = a sigmoid(z).

    Here s = sigmoid(z), q = sigmoid(-z), z = c (a + 0.044715 a^3) and c = 2 sqrt(2 /
    pi). Beyond |a| = 10, where s q < exp(-87), a^2 is limited, because 0 * infinity
    would be NaN.
    """
    c, cubic = 2 * math.sqrt(2 / math.pi), 0.044715
    square = k.minimum(k.mul(a, a), k.constant(100, a))

    def times(x: Any, factor: float) -> Any:
        return k.mul(x, k.constant(factor, a))

    z = k.mul(a, k.add(times(square, c * cubic), k.constant(c, a)))
    slope = k.add(times(square, 3 * c * cubic), k.constant(c, a))
    s, q = _both_sigmoids(k, z)
    curved = k.add(k.mul(k.mul(slope, slope), k.sub(q, s)), times(a, 6 * c * cubic))
    return k.mul(k.mul(s, q), k.add(times(slope, 2), k.mul(a, curved)))


@traced
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x * Phi(x), where Phi is the standard normal distribution function.

    Hendrycks, Gimpel: Gaussian error linear units (2016).

    Parameters
    ----------
    input
        The tensor x of float32 or float64, of any shape.
    approximate
        The formula: ``"none"`` computes x / 2 * (1 + erf(x / sqrt(2))), and ``"tanh"``
        computes x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).

    Raises
    ------
    ArgumentError
        If `approximate` is neither ``"none"`` nor ``"tanh"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.gelu(ac.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    check_approximate("gelu", approximate)
    if KINDS and (own := elsewhere("gelu", input)) is not None:
        return own(input, approximate)  # type: ignore[no-any-return]  # a tensor
    return gelu_op(check_tensor("gelu", input), approximate)


softplus_op = nary("softplus", saves="a")


@softplus_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.softplus_backward(g, n.saved[0], *n.attributes)


softplus_backward = nary("softplus_backward", saves="g:a a")


@softplus_backward.vjp
def _(k: Any, n: Any, h: Any) -> Any:
    """Return f'' = beta sigmoid(beta a) sigmoid(-beta a), and 0 above the threshold."""
    g, a = n.saved
    beta, threshold = n.attributes
    da = None
    if n.needs(1):
        z = k.mul(a, k.constant(beta, a))
        s, q = _both_sigmoids(k, z)
        second_derivative = k.mul(k.mul(s, q), k.constant(beta, a))
        above = k.compare(z, k.constant(threshold, a), "gt")
        second_derivative = k.where(above, k.constant(0, a), second_derivative)
        da = k.mul(k.mul(h, g), second_derivative)
    dg = k.softplus_backward(h, a, beta, threshold) if n.needs(0) else None
    return dg, da


@traced
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, a smooth form of max(x, 0).

    Parameters
    ----------
    input
        The tensor x of float32 or float64, of any shape.
    beta
        The sharpness: the larger it is, the closer the result is to max(x, 0).
    threshold
        The limit for beta * x: above it, the result is x itself.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.softplus(ac.tensor([-1.0, 0.0, 30.0])).tolist()
    [0.3132616877555847, 0.6931471824645996, 30.0]
    """
    beta = number("softplus", "beta", beta)
    threshold = number("softplus", "threshold", threshold)
    return softplus_op(check_tensor("softplus", input), beta, threshold)


@traced
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input * tanh(log(1 + exp(input))).

    Misra: Mish, a self regularized non-monotonic activation function (BMVC 2020).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    inplace
        True to write the result into the memory of `input`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.mish(ac.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8651])
    """
    check_float("mish", input)
    return _writing.maybe_into(input, _mish, inplace, "mish_")


@rounded_once
def _mish(x: Tensor) -> Tensor:
    return arithmetic.mul(x, trigonometric.tanh(_log_of_one_and_exp(x)))


def _log_of_one_and_exp(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)), without a threshold above which the result is x."""
    return softplus_op(x, 1.0, 1e30)


@traced
@rounded_once
def logsigmoid(input: Tensor) -> Tensor:
    """Return log(1 / (1 + exp(-input))).

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.logsigmoid(ac.tensor([0.0, 1.0]))
    tensor([-0.6931, -0.3133])
    """
    check_float("logsigmoid", input)
    return arithmetic.neg(_log_of_one_and_exp(arithmetic.neg(input)))


@traced
@rounded_once
def softsign(input: Tensor) -> Tensor:
    """Return input / (1 + abs(input)).

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.softsign(ac.tensor([-1.0, 1.0]))
    tensor([-0.5000,  0.5000])
    """
    check_tensor("softsign", input)
    return arithmetic.div_op(input, arithmetic.add_op(arithmetic.abs(input), 1.0))


@traced
@rounded_once
def tanhshrink(input: Tensor) -> Tensor:
    """Return input - tanh(input).

    Parameters
    ----------
    input
        The input tensor, of any shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.tanhshrink(ac.tensor([0.0, 1.0]))
    tensor([0.0000, 0.2384])
    """
    check_tensor("tanhshrink", input)
    return arithmetic.sub_op(input, trigonometric.tanh(input))


@traced
@rounded_once
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return a * sigmoid(b), where a and b are the halves of `input` along `dim`.

    Dauphin, Fan, Auli, Grangier: Language modeling with gated convolutional networks
    (ICML 2017).

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension that is split; a negative number counts from the end.

    Raises
    ------
    ShapeError
        If the size of `dim` is odd.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.glu(ac.tensor([2.0, 4.0, 0.0, 0.0]))
    tensor([1., 2.])
    """
    check_float("glu", input)
    shape = input._array.shape
    axis = axis_of("glu", dim, len(shape))
    size = shape[axis] if shape else 1
    if size % 2:
        raise ShapeError(
            f"glu: dimension {axis} of an input of shape {input.shape} has size "
            f"{size}; it must be even, because it is split into halves."
        )
    before = (slice(None),) * axis
    first = slicing.slice_op(input, (*before, slice(0, size // 2)))
    second = slicing.slice_op(input, (*before, slice(size // 2, size)))
    return arithmetic.mul(first, sigmoid(second))
