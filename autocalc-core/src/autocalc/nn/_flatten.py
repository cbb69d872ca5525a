# SPDX-License-Identifier: MIT
"""Merging dimensions, so that images become rows."""

from __future__ import annotations

from autocalc._ops import view
from autocalc._tensor import Tensor
from autocalc.nn._module import Module


class Flatten(Module):
    """Merges the dimensions `start_dim` to `end_dim`; the batch stays by default.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Flatten()(ac.zeros(32, 1, 28, 28)).shape
    (32, 784)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with these dimensions merged."""
        return view.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Name the dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
