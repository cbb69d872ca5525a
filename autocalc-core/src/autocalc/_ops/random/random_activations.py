# SPDX-License-Identifier: MIT
"""Activations with random numbers: rrelu and Gumbel softmax."""

from __future__ import annotations

from autocalc._ops._operator.arguments import axis_of
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.activations.rectifiers import leaky_relu_op
from autocalc._ops.creation.like import zeros_like
from autocalc._ops.elementwise import arithmetic, comparison, exponential
from autocalc._ops.elementwise.clamping import clamp
from autocalc._ops.indexing import masking, scattering
from autocalc._ops.random.random_draws import rand_like
from autocalc._ops.reductions import extrema, softmax
from autocalc._ops.views import _writing
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.limits import finfo
from autocalc.errors import ArgumentError


@declared
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return `input` where it is above 0, else slope * input with random slopes.

    If `training` is True, each element has its own slope, drawn evenly from `lower` to
    `upper`.  Otherwise the slope is the mean of the two limits.

    Xu, Wang, Chen, Li: Empirical evaluation of rectified activations (2015).

    Parameters
    ----------
    input
        The input tensor.
    lower, upper
        The limits between which slopes are drawn.
    training
        True to draw the slopes, False to use their mean.
    inplace
        True to write the result into the memory of `input`.

    Raises
    ------
    ArgumentError
        If `lower` is above `upper`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.rrelu(ac.tensor([-1.0, 2.0]), 0.25, 0.75)
    tensor([-0.5000,  2.0000])
    """
    check_float("rrelu", input)
    low, high = check_slopes("rrelu", lower, upper)
    if not training:
        slope = float(low + high) / 2
        return _writing.kernel_into(leaky_relu_op, input, (slope,), inplace, "rrelu_")
    return _writing.maybe_into(
        input, lambda x: _randomly_sloped(x, low, high), inplace, "rrelu_"
    )


@rounded_once
def _randomly_sloped(x: Tensor, low: float, high: float) -> Tensor:
    slopes = low + (high - low) * rand_like(x.detach())
    return masking.where(comparison.gt(x, 0.0), x, arithmetic.mul(x, slopes))


def check_slopes(where: str, lower: float, upper: float) -> tuple[float, float]:
    """Return the checked limits of random slopes as numbers."""
    low, high = number(where, "lower", lower), number(where, "upper", upper)
    if not low <= high:
        message = f"{where}: `lower`={low} is above `upper`={high}; exchange them."
        raise ArgumentError(message)
    return low, high


def rrelu_(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
) -> Tensor:
    """Apply `rrelu` to `input` in place; return `input`.

    Parameters
    ----------
    input
        The input tensor.
    lower, upper
        The limits of the slopes.
    training
        True to draw the slopes.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-1.0, 2.0])
    >>> ac.nn.functional.rrelu_(x, 0.25, 0.75) is x, x
    (True, tensor([-0.5000,  2.0000]))
    """
    return rrelu(input, lower, upper, training, True)


@declared
@rounded_once
def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
) -> Tensor:
    """Return softmax((logits + noise) / tau), a soft sample of one class.

    The noise is -log(-log(u)) with u drawn from 0 to 1 (Gumbel noise).  The largest
    element of the result is class i with probability softmax(logits)[i].  Jang, Gu,
    Poole: Categorical reparameterization with Gumbel-softmax (ICLR 2017).

    Parameters
    ----------
    logits
        Unnormalised log-probabilities, a floating-point tensor of any shape.
    tau
        The temperature, above 0: the smaller it is, the closer the result is to a
        one-hot vector.
    hard
        True to return 1 for the largest element and 0 for the others; the gradient is
        that of the soft sample.
    eps
        Accepted so that programs for PyTorch run; it has no effect.
    dim
        The dimension of the classes.

    Raises
    ------
    ArgumentError
        If `tau` is not above 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> logits = ac.tensor([[0.0, 50.0], [50.0, 0.0]])
    >>> ac.nn.functional.gumbel_softmax(logits, hard=True)
    tensor([[0., 1.],
            [1., 0.]])
    """
    where = "gumbel_softmax"
    check_float(where, logits)
    number(where, "eps", eps)
    dim, tau = axis_of(where, dim, logits.ndim), number(where, "tau", tau)
    if not tau > 0:
        raise ArgumentError(
            f"{where}: `tau` is {tau}; it is a temperature and must be above 0."
        )
    noisy = arithmetic.add(logits, _gumbel_noise(logits.detach()))
    soft = softmax.softmax(arithmetic.div(noisy, tau), dim)
    return _one_hot(soft, dim) if hard else soft


def _gumbel_noise(like: Tensor) -> Tensor:
    """Return -log(-log(u)), with u from (0, 1)."""
    tiny = finfo(like.dtype).tiny
    u = rand_like(like)
    waits = arithmetic.neg(exponential.log(arithmetic.sub(1, u)))
    return arithmetic.neg(exponential.log(clamp(waits, min=tiny)))


def _one_hot(soft: Tensor, dim: int) -> Tensor:
    """Return 1 at the largest element, else 0, with the gradient of `soft`."""
    if not soft.numel():
        return soft
    now = soft.detach()
    largest = extrema.argmax(now, dim, True)
    hard = scattering.scatter(zeros_like(now), dim, largest, 1.0)
    return arithmetic.add(arithmetic.sub(hard, now), soft)
