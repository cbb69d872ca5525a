# SPDX-License-Identifier: MIT
"""Smooth activations, and those along a dimension."""

from __future__ import annotations

from autocalc._ops import activations, elementwise, functional
from autocalc._ops._arguments import axis_of, check_tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._checks import check_approximate, check_float
from autocalc.nn._functions._inplace import maybe_into


def tanh(input: Tensor) -> Tensor:
    """Return tanh(input)."""
    return elementwise.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """Return 1 / (1 + exp(-input))."""
    return elementwise.sigmoid(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input * sigmoid(input); with `inplace`, in the memory of `input`.

    Also called swish.  Elfwing, Uchibe, Doya: Sigmoid-weighted linear units (2017).
    """
    return maybe_into(input, activations.silu, inplace, "silu_")


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """Return x * Phi(x), Phi the distribution function of the normal distribution.

    Hendrycks, Gimpel: Gaussian error linear units (2016).

    Parameters
    ----------
    input
        x, of any shape, float32 or float64.
    approximate
        ``"none"``: x / 2 * (1 + erf(x / sqrt(2))); ``"tanh"``: x / 2 * (1 +
        tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).

    Raises
    ------
    ArgumentError
        If `approximate` is neither.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.gelu(ac.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.    ,  0.8413])
    """
    check_approximate("gelu", approximate)
    return activations.gelu(check_tensor("gelu", input), approximate)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, a smooth max(x, 0).

    Parameters
    ----------
    input
        x, of any shape, float32 or float64.
    beta
        The larger, the closer to max(x, 0).
    threshold
        Where beta * x is above, x itself is returned.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.softplus(ac.tensor([-1.0, 0.0, 30.0])).tolist()
    [0.3132616877555847, 0.6931471824645996, 30.0]
    """
    beta = number("softplus", "beta", beta)
    threshold = number("softplus", "threshold", threshold)
    return activations.softplus(check_tensor("softplus", input), beta, threshold)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return input * tanh(log(1 + exp(input))).

    Misra: Mish, a self regularized non-monotonic activation function (BMVC 2020).
    """
    check_float("mish", input)
    return maybe_into(input, _mish, inplace, "mish_")


def _mish(x: Tensor) -> Tensor:
    return elementwise.mul(x, elementwise.tanh(_log_of_one_and_exp(x)))


def _log_of_one_and_exp(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)) as it is: no threshold beyond which it is x."""
    return activations.softplus(x, 1.0, 1e30)


def logsigmoid(input: Tensor) -> Tensor:
    """Return log(1 / (1 + exp(-input)))."""
    check_float("logsigmoid", input)
    return elementwise.neg(_log_of_one_and_exp(elementwise.neg(input)))


def softsign(input: Tensor) -> Tensor:
    """Return input / (1 + abs(input))."""
    check_float("softsign", input)
    return elementwise.div(input, elementwise.add(elementwise.abs(input), 1.0))


def tanhshrink(input: Tensor) -> Tensor:
    """Return input - tanh(input)."""
    check_float("tanhshrink", input)
    return elementwise.sub(input, elementwise.tanh(input))


def softmax(
    input: Tensor, dim: int | None = None, *, dtype: DType | None = None
) -> Tensor:
    """Return exp(x_i) / sum_j exp(x_j) along `dim`, which must be given."""
    return functional.softmax(input, _given("softmax", dim, input), dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, *, dtype: DType | None = None
) -> Tensor:
    """Return x_i - log(sum_j exp(x_j)) along `dim`, which must be given."""
    return functional.log_softmax(input, _given("log_softmax", dim, input), dtype)


def softmin(
    input: Tensor, dim: int | None = None, *, dtype: DType | None = None
) -> Tensor:
    """Return softmax(-input) along `dim`, which must be given."""
    axis = _given("softmin", dim, input)
    x = check_tensor("softmin", input)
    x = x if dtype is None else x.to(dtype)
    return functional.softmax(elementwise.neg(x), axis)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return a * sigmoid(b), a and b the halves of `input` along `dim`.

    Dauphin, Fan, Auli, Grangier: Language modeling with gated convolutional networks
    (ICML 2017).

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
    axis = axis_of("glu", dim, input.ndim)
    size = input.shape[axis] if input.ndim else 1
    if size % 2:
        message = (
            f"glu: dimension {axis} of an input of shape {input.shape} has size "
            f"{size}; it must be even, to be halved."
        )
        raise ShapeError(message)
    before = (slice(None),) * axis
    first, second = slice(None, size // 2), slice(size // 2, None)
    places = [(*before, half) for half in (first, second)]
    a, b = (input[place] for place in places)
    return elementwise.mul(a, elementwise.sigmoid(b))


def _given(where: str, dim: int | None, input: Tensor) -> int:
    if dim is None:
        message = (
            f"{where}: `dim` is missing for an input of shape "
            f"{check_tensor(where, input).shape}; name the "
            f"dimension of the classes, often dim=-1."
        )
        raise ArgumentError(message)
    return dim
