# SPDX-License-Identifier: MIT
"""In-place forms of the rectifiers."""

from __future__ import annotations

from autocalc._ops.activations.rectifiers import celu, elu, hardtanh, leaky_relu, selu
from autocalc._tensor import Tensor


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply `celu` to `input` in place; return `input`.

    Parameters
    ----------
    input
        The input tensor.
    alpha
        The scale of the part below 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-1.0, 2.0])
    >>> ac.nn.functional.celu_(x) is x, x
    (True, tensor([-0.6321,  2.0000]))
    """
    return celu(input, alpha, True)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply `elu` to `input` in place; return `input`.

    Parameters
    ----------
    input
        The input tensor.
    alpha
        The factor of the part below 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-1.0, 2.0])
    >>> ac.nn.functional.elu_(x) is x, x
    (True, tensor([-0.6321,  2.0000]))
    """
    return elu(input, alpha, True)


def selu_(input: Tensor) -> Tensor:
    """Apply `selu` to `input` in place; return `input`.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-1.0, 2.0])
    >>> ac.nn.functional.selu_(x) is x, x
    (True, tensor([-1.1113,  2.1014]))
    """
    return selu(input, True)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Apply `leaky_relu` to `input` in place; return `input`.

    Parameters
    ----------
    input
        The input tensor.
    negative_slope
        The slope of negative elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-1.0, 2.0])
    >>> ac.nn.functional.leaky_relu_(x, 0.5) is x, x
    (True, tensor([-0.5000,  2.0000]))
    """
    return leaky_relu(input, negative_slope, True)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Apply `hardtanh` to `input` in place; return `input`.

    Parameters
    ----------
    input
        The input tensor.
    min_val
        The lower limit.
    max_val
        The upper limit.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-2.0, 0.5])
    >>> ac.nn.functional.hardtanh_(x) is x, x
    (True, tensor([-1.0000,  0.5000]))
    """
    return hardtanh(input, min_val, max_val, True)
