# SPDX-License-Identifier: MIT
"""Layers that merge dimensions, and that split them again."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops.views import named_views, view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, integers
from autocalc.nn._module.module import Module


class Flatten(Module):
    """Merges the dimensions `start_dim` to `end_dim` into one.

    By default it merges all dimensions except the first one, the batch.

    Parameters
    ----------
    start_dim, end_dim
        The first and the last dimension to merge.  Negative ones count from the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Flatten()(ac.zeros(32, 1, 28, 28)).shape
    autocalc.Size([32, 784])
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with the dimensions merged."""
        return view.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """Return the dimensions as text for `repr`."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Splits one dimension into several dimensions.

    Parameters
    ----------
    dim
        The dimension to split.  A negative one counts from the end.
    unflattened_size
        The sizes of the new dimensions.  One of them may be -1; it is computed from the
        others.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Unflatten(1, (1, 28, -1))(ac.zeros(32, 784)).shape
    autocalc.Size([32, 1, 28, 28])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim = as_int("Unflatten", "dim", dim)
        self.unflattened_size = integers(
            "Unflatten", "unflattened_size", unflattened_size
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with the dimension split."""
        return named_views.unflatten(input, self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """Return the dimension and sizes as text for `repr`."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
