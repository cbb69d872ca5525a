# SPDX-License-Identifier: MIT
"""Guards of tensors whose attributes the recorded function read.

A step may read ``p.requires_grad`` or ``p.grad is None`` of a tensor that none of its
kernels uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import ref

from autocalc._compile._guards import Drawn
from autocalc._compile._signature import Signature
from autocalc._compile._together import Together
from autocalc._graph._node import Leaf
from autocalc._program._memory import Memory
from autocalc._tensor import Tensor


class Asked:
    """A guard of a tensor's edge, layout and gradient from before the function ran.

    Parameters
    ----------
    tensor
        The tensor; it existed before the function ran.
    had_gradient
        Whether it had a gradient; None where the function did not ask.
    """

    is_number = False
    code = None

    def __init__(self, tensor: Tensor, had_gradient: bool | None) -> None:
        self.what = f"a tensor of shape {tuple(tensor._array.shape)}"
        self.source = id(tensor), "asked"
        self.tensor, self._edge = tensor, tensor._edge
        self._layout = _layout(tensor._array)
        self._had_gradient = had_gradient

    def holds(self) -> bool:
        """Return whether the tensor is as it was."""
        tensor = self.tensor
        edge = tensor._edge
        if edge is not self._edge or _layout(tensor._array) != self._layout:
            return False
        had = self._had_gradient
        return had is None or (getattr(edge, "grad", None) is not None) == had

    def join(self, group: Together) -> bool:
        """Return False: no group compares this guard."""
        del group
        return False


def _layout(array: Any) -> tuple[Any, ...]:
    return array.shape, array.strides, array.dtype


def asked_guards(
    asked: dict[int, tuple[Tensor, bool, Any]],
    memory: Memory,
    call: Signature,
    before: set[Leaf],
) -> list[Asked]:
    """Return guards of the tensors that existed before the function ran.

    Arguments without a history are left out, because they are other tensors in each
    call.  `before` holds the leaves that had a gradient.
    """
    arguments = {id(x) for x in call.tensors if x._edge is None}
    guards = []
    for tensor, grad, _ in asked.values():
        edge: Any = tensor._edge
        is_old = edge is None or edge.__class__ is Leaf
        if is_old and id(tensor) not in arguments and not memory.is_made(tensor._array):
            is_asked = grad and edge is not None
            guards.append(Asked(tensor, edge in before if is_asked else None))
    asked.clear()
    return guards


def switched(
    asked: dict[int, tuple[Tensor, bool, Any]], memory: Memory, call: Signature
) -> Iterator[Drawn]:
    """Yield tensors whose ``requires_grad`` the function has switched on or off.

    A tensor that nothing else references was made by the function.  It is forgotten.
    """
    arguments = {id(x) for x in call.tensors}
    for key in list(asked):
        tensor, grad, edge = asked.pop(key)
        alive = ref(tensor)
        del tensor
        if (still := alive()) is None:
            continue
        asked[key] = still, grad, edge
        leaves = {edge.__class__, still._edge.__class__} == {type(None), Leaf}
        if leaves and key not in arguments and not memory.is_made(still._array):
            shape = tuple(still._array.shape)
            yield Drawn(f"requires_grad of a tensor of shape {shape}", None)
