# SPDX-License-Identifier: MIT
"""Dropout that keeps mean and variance, for networks with `selu`."""

from __future__ import annotations

import math

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float, check_probability, check_shape
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.activations.rectifiers import SELU_ALPHA, SELU_SCALE
from autocalc._ops.creation.constants import full
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.random.distributions import bernoulli
from autocalc._ops.views import _writing
from autocalc._tensor import Tensor
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.generator import Generator

#: The value of selu at minus infinity; dropped elements are set to it.
_FLOOR = -SELU_SCALE * SELU_ALPHA


@declared
def alpha_dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set random elements to the lower limit of selu, keeping mean 0 and variance 1.

    With x = `input`, the result is a * where(kept, x, floor) + b, where floor = -1.7581
    is the limit of selu at -infinity.  The numbers a and b are such that an input of
    mean 0 and variance 1 keeps both.  Klambauer, Unterthiner, Mayr, Hochreiter:
    Self-normalizing neural networks (NeurIPS 2017).

    Parameters
    ----------
    input
        The input tensor, of any shape, of float32 or float64.
    p
        The probability that an element is dropped, between 0 and 1; with 1, the result
        is 0.
    training
        False to return `input` unchanged.
    inplace
        True to also write the result into `input`.
    generator
        The generator of the random numbers; by default the default generator.

    Examples
    --------
    >>> import autocalc as ac
    >>> y = ac.nn.functional.alpha_dropout(ac.zeros(1000), 0.2, training=True)
    >>> [round(value, 4) for value in sorted(set(y.tolist()))]
    [-1.2362, 0.309]
    """
    p = check_probability("alpha_dropout", p)
    check_tensor("alpha_dropout", input)
    if not training or p == 0.0:
        return input
    check_float("alpha_dropout", input)
    dropped = _dropped(input, input.shape, float(p), generator)
    return _writing.into(input, dropped, "alpha_dropout_") if inplace else dropped


@declared
def feature_alpha_dropout(
    input: Tensor,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Drop whole channels in the way `alpha_dropout` drops elements.

    Parameters
    ----------
    input
        A tensor of shape (N, C, ...); each of the N * C channels is either kept or
        dropped.
    p, training, inplace, generator
        The same as in `alpha_dropout`.

    Raises
    ------
    ShapeError
        If `input` has fewer than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(1, 2, 3)
    >>> y = ac.nn.functional.feature_alpha_dropout(x, training=True)
    >>> bool((y[..., :1] == y).all())
    True
    """
    where = "feature_alpha_dropout"
    p = check_probability(where, p)
    check_tensor(where, input)
    if not training or p == 0.0:
        return input
    check_float(where, input)
    check_shape(where, "input", input, "(N, C, ...)")
    channels = (*input.shape[:2], *[1] * (input.ndim - 2))
    dropped = _dropped(input, channels, float(p), generator)
    return _writing.into(input, dropped, f"{where}_") if inplace else dropped


@rounded_once
def _dropped(
    x: Tensor, shape: tuple[int, ...], p: float, generator: Generator | None
) -> Tensor:
    if p == 1.0:
        return arithmetic.mul(x, 0.0)
    probability = full(shape, 1 - p, dtype=x.dtype, device=place_of_tensor(x))
    kept = bernoulli(probability, generator=generator)
    scale = 1 / math.sqrt((1 - p) * (1 + p * _FLOOR**2))
    floors = (1 - kept) * _FLOOR
    lifted = arithmetic.add(arithmetic.mul(x, kept), floors - p * _FLOOR)
    return arithmetic.mul(lifted, scale)
