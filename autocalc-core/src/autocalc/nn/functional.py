# SPDX-License-Identifier: MIT
"""What modules compute, as functions: everything is an argument."""

from __future__ import annotations

import warnings

from autocalc import _functional as functional
from autocalc import _inplace as inplace_ops
from autocalc._dtypes import DType
from autocalc._functional import embedding, layer_norm, linear, rms_norm
from autocalc._functional._arguments import checked
from autocalc._functional.attention import scaled_dot_product_attention
from autocalc._ops import activations, elementwise
from autocalc._ops import random as random_ops
from autocalc._random import Generator, default_generator
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError
from autocalc.nn._checks import (
    check_approximate,
    check_probability,
    check_reduction,
)

__all__ = [
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "layer_norm",
    "linear",
    "log_softmax",
    "mse_loss",
    "relu",
    "relu_",
    "rms_norm",
    "scaled_dot_product_attention",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
]


# ---- activations --------------------------------------------------------------------


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return max(input, 0); with `inplace`, in the memory of `input`."""
    result: Tensor = elementwise.relu(input)
    return _into(input, result, "relu_") if inplace else result


def relu_(input: Tensor) -> Tensor:
    """Set the negative elements of `input` to 0, in place; return it."""
    return relu(input, inplace=True)


def _into(input: Tensor, result: Tensor, where: str) -> Tensor:
    recorded = inplace_ops.check_writable(where, input)
    return inplace_ops._write(where, input, result, recorded)


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
    if not inplace:
        return activations.silu(input)
    # The backward rule reads the input, which is about to be overwritten.
    kept = functional.clone(input) if input.requires_grad else input
    return _into(input, activations.silu(kept), "silu_")


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
    >>> ac.nn.functional.gelu(ac.tensor([-1.0, 0.0, 1.0])).tolist()
    [-0.15865525603294373, 0.0, 0.8413447141647339]
    """
    check_approximate("gelu", approximate)
    return activations.gelu(checked("gelu", input), approximate)


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
    return activations.softplus(
        checked("softplus", input), float(beta), float(threshold)
    )


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


def _given(where: str, dim: int | None, input: Tensor) -> int:
    if dim is None:
        message = (
            f"{where}: `dim` is missing for an input of shape {input.shape}; name the "
            f"dimension of the classes, often dim=-1."
        )
        raise ArgumentError(message)
    return dim


# ---- dropout ------------------------------------------------------------------------


def dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set elements to 0 with probability `p`; multiply the rest by 1 / (1 - p).

    Parameters
    ----------
    input
        Of any shape, float32 or float64.
    p
        From 0 to 1.
    training
        If not, `input` is returned.
    inplace
        Write the result into `input` as well.
    generator
        By default the process's generator.

    Raises
    ------
    ArgumentError
        If `p` is not from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> y = ac.nn.functional.dropout(ac.ones(1000), 0.2)
    >>> sorted(set(y.tolist()))
    [0.0, 1.25]
    """
    check_probability("dropout", p)
    checked("dropout", input)
    if not training or p == 0.0:
        return input
    if not input.is_floating_point():
        message = f"dropout: needs float32 or float64, not {input.dtype.name}."
        raise DTypeError(message)
    words = input.numel()  # one word of the random stream for each element
    seed, offset = (generator or default_generator).draw(words)
    dropped, _ = random_ops.dropout(
        input, make(seed, None), make(offset, None), float(p)
    )
    return _into(input, dropped, "dropout_") if inplace else dropped


# ---- losses -------------------------------------------------------------------------


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Return -log(softmax(input)[target]) of logits (N, C, ...) and labels (N, ...).

    Parameters
    ----------
    input
        Logits, (N, C), (C,), or (N, C, d1, ...).
    target
        Labels 0 to C - 1, integers, (N,), (), or (N, d1, ...).
    weight
        A factor for each class, (C,).
    ignore_index
        Rows with this label count for nothing.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target that is spread over all classes.

    Raises
    ------
    KernelDataError
        If a label is outside 0 to C - 1.
    """
    return functional.cross_entropy(
        input, target, weight, ignore_index, reduction, label_smoothing
    )


def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """Return (input - target)^2, averaged, summed, or (``"none"``) as it is.

    Shapes that differ are broadcast with a warning.
    """
    check_reduction("mse_loss", reduction)
    if input.shape != target.shape:
        warnings.warn(
            f"mse_loss: `input` has shape {input.shape}, `target` {target.shape}; they "
            f"are broadcast, which is rarely what is meant. Reshape one of them.",
            AutocalcWarning,
            stacklevel=2,
        )
    difference = elementwise.sub(input, target)
    return _reduced(elementwise.mul(difference, difference), reduction)


def _reduced(values: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return functional.mean(values)
    return functional.sum(values) if reduction == "sum" else values
