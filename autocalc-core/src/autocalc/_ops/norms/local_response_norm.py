# SPDX-License-Identifier: MIT
"""Normalisation of each element by its neighbours in other channels."""

from __future__ import annotations

import math

from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.convolutions import padding
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.pooling import avg_pooling
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, number, require
from autocalc.errors import ShapeError


@rounded_once
def local_response_norm(
    input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Return x / (k + alpha * mean(x^2 of neighbouring channels))^beta.

    The mean is taken over `size` channels around the channel of the element; channels
    before the first and after the last count as 0.  Krizhevsky, Sutskever, Hinton:
    ImageNet classification with deep convolutional neural networks (2012).

    Parameters
    ----------
    input
        The tensor x, of shape (N, C, ...), with one dimension or more after the
        channels.
    size
        The number of channels in the mean, 1 or more.
    alpha, beta, k
        The constants of the formula above.

    Raises
    ------
    ShapeError
        If there are fewer than three dimensions.
    ArgumentError
        If `size` is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[[3.0], [4.0]]])
    >>> ac.nn.functional.local_response_norm(x, 1, alpha=1.0, beta=0.5, k=0.0)
    tensor([[[1.],
             [1.]]])
    """
    where = "local_response_norm"
    check_float(where, input)
    if input.ndim < 3:
        message = f"{where}: `input` has shape {input.shape}; it must be (N, C, ...)."
        raise ShapeError(message)
    count = check_size(where, size)
    alpha, beta, k = (
        number(where, name, value)
        for name, value in {"alpha": alpha, "beta": beta, "k": k}.items()
    )
    if not input.numel():
        return input
    mean = _mean_over_channels(arithmetic.mul(input, input), count)
    return arithmetic.div(input, arithmetic.pow(mean * alpha + k, beta))


def check_size(where: str, size: int) -> int:
    """Return the checked number of neighbouring channels."""
    count = as_int(where, "size", size)
    require(where, "size", count, count >= 1, "1 or more")
    return count


def _mean_over_channels(x: Tensor, count: int) -> Tensor:
    """Return the mean over `count` channels around each channel."""
    batch, channels, *planes = x.shape
    flat = view.reshape(x, (batch, 1, channels, math.prod(planes)))
    wide = padding.pad(flat, (0, 0, count // 2, (count - 1) // 2))
    mean = avg_pooling.avg_pool2d(wide, (count, 1), 1)
    return view.reshape(mean, x.shape)
