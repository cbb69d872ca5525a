# SPDX-License-Identifier: MIT
"""The recorded graph: its nodes, hooks on them, and on what operators save."""

from __future__ import annotations

from collections.abc import Iterable

from autocalc._tensor import Tensor, node_and_slot
from autocalc._tensor.checks import check_type
from autocalc.autograd._gradient_edge import GradientEdge
from autocalc.autograd._multi_hooks import register_multi_grad_hook
from autocalc.autograd._nodes import Node, end_of, named
from autocalc.autograd._saved_hooks import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from autocalc.errors import GradError

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the position of a tensor in the graph, for `autograd.grad`.

    Raises
    ------
    GradError
        If the tensor does not require a gradient.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, requires_grad=True)
    >>> edge = ac.autograd.graph.get_gradient_edge(x * 2)
    >>> ac.autograd.grad(edge, x, grad_outputs=ac.ones(2))
    (tensor([2., 2.]),)
    """
    check_type("get_gradient_edge", "tensor", tensor, Tensor, "a tensor")
    if tensor._edge is None:
        raise GradError(
            f"get_gradient_edge: the tensor of shape {tensor.shape} does not require a "
            "gradient, so it is not in a graph. Set requires_grad=True on an input."
        )
    if tensor.is_leaf:
        return GradientEdge(end_of(tensor._edge), 0)
    node, slot = node_and_slot(tensor._edge)
    return GradientEdge(named(node), slot)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Report that other code has changed tensors in place.

    A backward pass that needs the former values then raises an error.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, requires_grad=True)
    >>> y = x.detach()
    >>> z = (x * y).sum()
    >>> ac.autograd.graph.increment_version(y)
    >>> z.backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    autocalc.errors.GradError: backward: an array of shape (2,) that `mul` needs ...
    """
    tensors = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    for i, x in enumerate(tensors):
        check_type("increment_version", f"tensor[{i}]", x, Tensor, "a tensor")
        x._cell().count += 1
