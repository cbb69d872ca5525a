# SPDX-License-Identifier: MIT
"""The start of the backward pass, and the graph that it follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc import autograd
from autocalc._dispatch.engine.eager import accelerate
from autocalc._dispatch.selection.arrays import arrays
from autocalc._tensor import Tensor
from autocalc.autograd import _gradients

if TYPE_CHECKING:
    from autocalc.autograd import graph


class Gradients:
    """The gradients of everything from which a tensor was computed."""

    __slots__ = ()

    @property
    def grad_fn(self: Tensor) -> graph.Node | None:
        """The graph node that produced this tensor; None for a leaf."""
        if self.is_leaf:
            return None
        from autocalc.autograd._nodes import named

        return named(self._node())

    @accelerate(
        "backward",
        _gradients.run,
        arrays.copy,
        _gradients.deliver,
        _gradients.plain_walk(),
    )
    def backward(
        self: Tensor,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add d(self)/d(leaf) to the `grad` of every leaf that requires a gradient.

        Parameters
        ----------
        gradient
            The gradient with respect to this tensor, of the same shape. For a tensor of
            one element, the default is 1.
        retain_graph
            True to keep the saved arrays for another backward pass; by default the
            value of `create_graph`.
        create_graph
            True to record the backward pass itself, for higher derivatives.
        inputs
            The leaves that get a gradient; by default all.

        Raises
        ------
        GradError
            If no operation was recorded, if `gradient` is missing or does not fit, or
            if an earlier backward pass has freed the graph.

        Examples
        --------
        >>> import autocalc as ac
        >>> x = ac.tensor(3.0, requires_grad=True)
        >>> (x * x).backward()
        >>> x.grad.item()
        6.0
        """
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
