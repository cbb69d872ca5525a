# SPDX-License-Identifier: MIT
"""A place of the graph, which `grad` and `backward` take for a tensor."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._graph._node import Output


class GradientEdge(NamedTuple):
    """The position of a tensor in the graph, for `autograd.grad` and `backward`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, requires_grad=True)
    >>> y = x * 2
    >>> edge = ac.autograd.graph.get_gradient_edge(y)
    >>> edge.node.name(), edge.output_nr
    ('MulBackward0', 0)
    >>> ac.autograd.grad((y * y).sum(), edge)
    (tensor([4., 4.]),)
    """

    node: Any
    output_nr: int
    ownership_token: Any = None

    @property
    def edge(self) -> Any:
        """The node and output index of a tensor."""
        leaf = getattr(self.node, "leaf", None)
        if leaf is not None:
            return leaf
        node: Any = self.node
        return node if node.op.n_outputs == 1 else Output(node, self.output_nr)
