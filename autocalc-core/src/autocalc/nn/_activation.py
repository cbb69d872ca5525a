# SPDX-License-Identifier: MIT
"""Activations: elementwise functions, and softmax along a dimension."""

from __future__ import annotations

from autocalc._ops import elementwise
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.nn._module import Module


class ReLU(Module):
    """max(x, 0).

    Parameters
    ----------
    inplace
        Write the result into the input as well.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """Return max(x, 0)."""
        return functional.relu(input, self.inplace)

    def extra_repr(self) -> str:
        """Name what is not the default."""
        return "inplace=True" if self.inplace else ""


class Tanh(Module):
    """tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Return tanh(x)."""
        return elementwise.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Return 1 / (1 + exp(-x))."""
        return elementwise.sigmoid(input)


class _AlongDim(Module):
    """A function along one dimension, which must be named."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Name the dimension."""
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """exp(x_i) / sum_j exp(x_j) along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the softmax."""
        return functional.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """x_i - log(sum_j exp(x_j)) along `dim`."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the logarithm of the softmax."""
        return functional.log_softmax(input, self.dim)
