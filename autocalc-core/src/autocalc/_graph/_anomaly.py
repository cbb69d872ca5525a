# SPDX-License-Identifier: MIT
"""A backward pass that names the operator that failed or gave NaN, and its line."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import whole
from autocalc._graph._lines import recorded_at
from autocalc._graph._node import Edge, Node
from autocalc._graph._walk import Walk
from autocalc.errors import AutocalcError, GradError


class AnomalyWalk(Walk):
    """A backward pass that checks everything that backward rules return.

    Parameters
    ----------
    check_nan
        Whether a gradient that contains NaN is an error.
    words
        The keyword arguments of `Walk`.
    """

    def __init__(self, k: Any, *, check_nan: bool, **words: Any) -> None:
        super().__init__(k, **words)
        self.check_nan = check_nan
        self.visited: Node | None = None
        self.arrived: list[Any] = []

    def visit(self, node: Node, arrived: list[Any]) -> None:
        """Apply the node's rule; if it raises, name the node in the error."""
        self.visited, self.arrived = node, arrived
        try:
            super().visit(node, arrived)
        except Exception as error:
            if getattr(error, "names_its_node", False):
                raise
            if isinstance(error, AutocalcError):
                raise _naming(type(error), f"{error} {recorded_at(node)}") from error
            raise _naming(
                GradError,
                f"backward: the backward rule of `{node.op.name}` failed with "
                f"{type(error).__name__}: {error}. {recorded_at(node)}",
            ) from error

    def add(self, edge: Any, value: Any, memory: int) -> None:
        """Add a cotangent, unless it contains NaN."""
        self.check(edge, value)
        super().add(edge, value, memory)

    def add_part(self, edge: Edge, part: Any, shape: Any, cotangent: list[Any]) -> None:
        """Add a cotangent into a slice, unless it contains NaN."""
        if part.index is not None:
            self.check(edge, part.value)
        super().add_part(edge, part, shape, cotangent)

    def check(self, edge: Any, value: Any) -> None:
        """Raise if a rule's result for one of its inputs contains NaN."""
        node = self.visited
        if node is None or not self.check_nan or not self.holds_nan(value):
            return
        i = next(i for i, one in enumerate(node.edges) if one is edge)
        given = [g for g in self.arrived[1::2] if g is not None]
        had = "that hold" if any(map(self.holds_nan, given)) else "without"
        raise _naming(
            GradError,
            f"backward: Function '{node.op.name}Backward' returned nan values in its "
            f"{i}th output. The output has shape {tuple(value.shape)} and comes from "
            f"output gradients {had} NaN. Keep that input away from points where the "
            f"derivative is NaN. {recorded_at(node)}",
        )

    def holds_nan(self, value: Any) -> bool:
        """Return whether any element is NaN."""
        k, shape = self.k, self.k.shape(value)
        if 0 in shape:
            return False
        odd = k.compare(value, value, "ne")
        found = k.max(odd, tuple(range(len(shape))), False)
        return bool(whole(getattr(found, "_array", found)).any())


def _naming(kind: type[Exception], message: str) -> Exception:
    """Make an error to which an outer pass does not add a name again."""
    error: Any = kind(message)
    error.names_its_node = True
    return error  # type: ignore[no-any-return]  # of `kind`
