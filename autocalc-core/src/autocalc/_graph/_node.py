# SPDX-License-Identifier: MIT
"""The parts of the graph.  Nodes are data, and no reference points forward.

An *edge* leads from a node to the origin of one of its inputs.  The origin is another
`Node` (with one output), an `Output` of a node with several, the `Leaf` of a user's
tensor, or None where no gradient is wanted.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from autocalc._dispatch.engine.eager import bind

if TYPE_CHECKING:
    from autocalc._kernels.spec import DType, Shape

#: Serial numbers are a topological order: a node has a larger one than its inputs.
_serials = count()
next_serial = _serials.__next__


class Version:
    """Counts the writes to one storage; all its views share this object."""

    __slots__ = ("count", "exported", "line")

    #: Whether others may write the storage without counting: NumPy, `Tensor.data`.
    #: The native engine makes versions without `__init__`, so it is unset until then.
    exported: bool

    #: The line of the last write; set in anomaly mode only.
    line: Any

    def __init__(self) -> None:
        self.count = 0


#: All leaves, oldest first. The collector's list would cost 10 ns for each object of
#: the process, and lacks the objects that `gc.freeze` has removed from it.
_LEAVES: dict[int, weakref.ref[Leaf]] = {}


def leaves() -> list[Leaf]:
    """Return the leaves of all tensors, in the order in which they were made."""
    found = (ref() for ref in list(_LEAVES.values()))
    return [leaf for leaf in found if leaf is not None]


#: What a leaf has instead of hooks if its elements are not in row-major order: its
#: gradient then gets the same order. It is no dict, so that the engine leaves the
#: gradient to `deliver`, and it is false, like no hooks.
IN_ITS_ORDER: Any = ()


class Leaf:
    """The end of the graph at a user's tensor: its gradient and its hooks.

    `hooks` receive a gradient that arrives.  `accumulated` hooks run after it is added.
    `order` is that of the tensor's dimensions in memory, if it is not their own.
    """

    __slots__ = ("__weakref__", "accumulated", "grad", "hooks", "shape", "tensor")

    def __init__(self, shape: Shape, tensor: Any = None, order: Any = None) -> None:
        key = id(self)
        _LEAVES[key] = weakref.ref(self, lambda _: _LEAVES.pop(key, None))  # 0.3 us
        self.grad: Any = None
        self.hooks: dict[int, Callable[..., Any]] | None = None
        self.accumulated: dict[int, Callable[[], None]] | None = (
            IN_ITS_ORDER if order else None
        )
        self.shape = shape
        #: A reference to the tensor, which owns its leaf; `AccumulateGrad` uses it.
        self.tensor = None if tensor is None else weakref.ref(tensor)


class Node:
    """One recorded operation.

    Attributes
    ----------
    op
        The operator, which has a name, a backward rule and a list of arrays the rule
        needs.
    edges
        One edge for each input.
    saved
        The arrays that the rule declares, with None for arrays that no wanted gradient
        needs; `FREED` after a backward pass.
    versions
        For each saved array: its version cell, and the cell's count when it was saved.
    shapes, dtype
        The shapes and the dtype of the inputs.
    attributes
        The operator's plain values.
    serial
        The node's place in the order of recording.
    hooks
        The hooks that users registered, by output.
    """

    __slots__ = ("attributes", "dtype", "edges", "hooks", "line", "op", "saved",
                 "serial", "shapes", "versions")  # fmt: skip

    #: The line that recorded the node; set in anomaly mode only.
    line: Any

    def __init__(
        self,
        op: Any,
        edges: tuple[Edge, ...],
        saved: Any,
        versions: tuple[Any, ...],
        shapes: tuple[Shape, ...],
        dtype: DType,
        attributes: tuple[Any, ...],
    ) -> None:
        self.op = op
        self.edges = edges
        self.saved = saved
        self.versions = versions
        self.shapes = shapes
        self.dtype = dtype
        self.attributes = attributes
        self.serial = next_serial()
        self.hooks: dict[int, dict[int, Callable[..., Any]]] | None = None

    def needs(self, i: int) -> bool:
        """Return whether the gradient of input `i` is wanted."""
        return self.edges[i] is not None

    def __repr__(self) -> str:
        shapes = ", ".join(map(str, self.shapes))
        return f"<Node {self.serial} {self.op.name}({shapes})>"


class Output:
    """An edge to one of several outputs of a node."""

    __slots__ = ("node", "slot")

    def __init__(self, node: Node, slot: int) -> None:
        self.node = node
        self.slot = slot


Edge: TypeAlias = Node | Output | Leaf | None

bind(Node=Node, Output=Output, Leaf=Leaf, Version=Version, serials=_serials)


class Freed:
    """Stands in for saved arrays that a backward pass has freed."""

    def __repr__(self) -> str:
        return "FREED"


FREED = Freed()


class Partial:
    """A cotangent for part of an input, which is added into one zeroed buffer.

    The rule of a slice returns it, so that a loop over slices needs one buffer instead
    of one for each slice.  The rule of a write into a part returns it without an index.
    In that case `value` is called as ``value(g, own)``.  It returns `g` with zeros in
    that part, and uses the memory of `g` if nothing else holds it.
    """

    __slots__ = ("index", "value")

    def __init__(self, index: Any, value: Any) -> None:
        self.index = index
        self.value = value


def live_node_count() -> int:
    """Return the number of graph nodes that exist, in all threads.

    It shows whether a training loop leaks memory: after each step, the count should be
    the same.

    Examples
    --------
    >>> import autocalc as ac
    >>> before = ac.live_node_count()
    >>> x = ac.tensor([1.0, 2.0], requires_grad=True)
    >>> y = (x * x).sum()
    >>> ac.live_node_count() - before
    2
    >>> del y
    >>> ac.live_node_count() - before
    0
    """
    return sum(issubclass(type(thing), Node) for thing in gc.get_objects())
