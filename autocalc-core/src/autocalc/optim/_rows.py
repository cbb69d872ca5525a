# SPDX-License-Identifier: MIT
"""The rows of a parameter that a sparse gradient has; only these are updated."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError


class Rows(NamedTuple):
    """The places of the rows that have a gradient, and these gradients."""

    place: Tensor
    values: Tensor
    sparse_dim: int

    def of(self, x: Tensor) -> Tensor:
        """Return these rows of a tensor of the shape of the parameter."""
        return self._flat(x).index_select(0, self.place)

    def add_to(self, x: Tensor, rows: Tensor) -> None:
        """Add to these rows of a tensor, in place."""
        self._flat(x).index_add_(0, self.place, rows)

    def _flat(self, x: Tensor) -> Tensor:
        sizes = x.shape[: self.sparse_dim], x.shape[self.sparse_dim :]
        return view.view(x.detach(), (prod(sizes[0]), *sizes[1]))


def rows_of(where: str, group: Any, grad: Any, *, coalesce: bool = True) -> Rows:
    """Return the rows of a sparse gradient; of one row, they are added.

    Raises
    ------
    ArgumentError
        If the group has a weight decay, which would change all rows.
    """
    if group.get("weight_decay"):
        raise ArgumentError(
            f"{where}: the `weight_decay` option is not compatible with sparse "
            "gradients, because it changes all rows; set it to 0."
        )
    found = grad.coalesce() if coalesce else grad
    values = found._values()
    values = -values if group.get("maximize") else values
    return Rows(found._key(), values, found.sparse_dim())
