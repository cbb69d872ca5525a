# SPDX-License-Identifier: MIT
"""Free sizes: graphs of three recordings merged into one.

A model is recorded with three sizes.  If the graphs only differ in constants that hold
sizes, each of these constants is ``a * size + b``, and the merged graph computes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.errors import ArgumentError, OnnxError
from autocalc.onnx._graph import Graph, GraphNode, Value

#: How much larger the size of each recording is.
STEPS = (0, 1, 3)


class Free(NamedTuple):
    """The free size of a model.

    Attributes
    ----------
    name
        The name of the free dimension.
    axes
        The dimension that has this size, by the number of the input.
    size
        The size of the dimension in the example.
    """

    name: str
    axes: dict[int, list[int]]
    size: int


def free_size(
    dynamic_axes: Any,
    inputs: Sequence[str],
    outputs: Sequence[str],
    tensors: Sequence[Tensor],
) -> Free | None:
    """Return the free size that `dynamic_axes` requests, or None."""
    if not dynamic_axes:
        return None
    if not isinstance(dynamic_axes, Mapping):
        raise ArgumentError(
            f"onnx.export: `dynamic_axes` is {short(dynamic_axes)}; it must be a dict "
            f'such as {{"x": {{0: "batch"}}}}.'
        )
    names: set[str] = set()
    axes: dict[int, list[int]] = {}
    for key, value in dynamic_axes.items():
        if key not in inputs:
            _expect_output(key, inputs, outputs)
            continue
        number = inputs.index(key)
        given = _given(key, value)
        names.update(map(str, given.values()))
        axes[number] = [_axis(key, axis, tensors[number]) for axis in given]
    sizes = {tensors[i].shape[axis] for i, own in axes.items() for axis in own}
    if len(names) != 1 or len(sizes) != 1:
        raise ArgumentError(
            f"onnx.export: `dynamic_axes` names the sizes {sorted(names)}, which are "
            f"{sorted(sizes)} in the example. Only one size can be free, in any number "
            "of inputs and dimensions: give it the same name everywhere, or leave the "
            "other sizes out."
        )
    return Free(names.pop(), axes, sizes.pop())


def _given(name: str, value: Any) -> Mapping[Any, Any]:
    """Return the names of free sizes by dimension."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, (list, tuple)):
        return dict.fromkeys(value, "batch")
    raise ArgumentError(
        f"onnx.export: `dynamic_axes` has {short(value)} for {name!r}; it must be a "
        f'list of dimensions, or a dict such as {{0: "batch"}}.'
    )


def _expect_output(name: str, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    if name not in outputs:
        raise ArgumentError(
            f"onnx.export: `dynamic_axes` names {name!r}, but the inputs are "
            f"{', '.join(inputs)} and the outputs are {', '.join(outputs)}."
        )


def _axis(name: str, axis: Any, tensor: Tensor) -> int:
    ndim = len(tensor.shape)
    if not isinstance(axis, int) or not -ndim <= axis < ndim:
        raise ArgumentError(
            f"onnx.export: `dynamic_axes` names the dimension {short(axis)} of "
            f"{name!r}, which has only {ndim}."
        )
    return axis % ndim


def examples(
    tensors: Sequence[Tensor], free: Free | None = None, size: int = 0
) -> list[Tensor]:
    """Return the tensors with `size` in place of the free size, by repetition.

    Each result has its own memory, so that writes of the model do not change the
    tensors of the caller.  A tensor that is given twice becomes two inputs.
    """
    found = []
    for number, tensor in enumerate(tensors):
        array = tensor.detach().numpy()
        for axis in free.axes.get(number, ()) if free else ():
            array = np.take(array, np.arange(size) % array.shape[axis], axis)
        found.append(from_numpy(np.array(array, order="K")))
    return found


class Affine(NamedTuple):
    """``factor * size + rest``."""

    factor: int
    rest: int

    def text(self, name: str) -> str:
        """Return the expression as the name of a dimension."""
        scaled = name if self.factor == 1 else f"{self.factor}*{name}"
        return scaled if not self.rest else f"{scaled}{self.rest:+d}"


class Merged:
    """One graph made of three that were recorded with different sizes."""

    def __init__(
        self, graphs: Sequence[Graph], sizes: Sequence[int], free: Free
    ) -> None:
        self._graphs, self._sizes, self._free = graphs, sizes, free
        self.graph = graphs[0]
        self._computed: list[GraphNode] = []
        self._size = ""

    def run(self) -> Graph:
        """Compare the graphs; make the first one compute the differences."""
        first = self.graph
        for other in self._graphs[1:]:
            self._expect_alike(first, other)
        moving = [name for name in first.arrays if self._differs(name)]
        inferred = self._inferred(set(moving))
        for name in moving:
            if name in inferred:
                first.arrays[name] = inferred[name]
            else:
                self._compute(name)
        first.calls[:0] = self._computed
        return first

    def shapes(self, values: str) -> list[tuple[int | str, ...]]:
        """Return the shapes of `inputs` or `outputs`, with names for free sizes."""
        found: list[tuple[int | str, ...]] = []
        for several in zip(*(getattr(g, values) for g in self._graphs), strict=True):
            sizes = zip(*(value.shape for value in several), strict=True)
            found.append(tuple(self._named(numbers) for numbers in sizes))
        return found

    def _named(self, numbers: Sequence[int]) -> int | str:
        affine = self._affine(numbers)
        return affine.text(self._free.name) if affine.factor else affine.rest

    def _affine(self, numbers: Sequence[int]) -> Affine:
        (x, y, z), (a, b, c) = self._sizes, numbers
        factor, odd = divmod(b - a, y - x)
        rest = a - factor * x
        if odd or factor * z + rest != c:
            raise OnnxError(
                f"onnx.export: a size is {a}, {b} and {c} if the free size "
                f"{self._free.name!r} is {x}, {y} and {z}, but a graph can compute "
                "only multiples and sums of the free size. Export with fixed sizes, "
                "without `dynamic_axes`."
            )
        return Affine(int(factor), int(rest))

    def _differs(self, name: str) -> bool:
        arrays = [graph.arrays[name] for graph in self._graphs]
        same = all(
            np.array_equal(arrays[0], a, equal_nan=a.dtype.kind in FLOAT_KINDS)
            for a in arrays
        )
        if same and all(a.shape == arrays[0].shape for a in arrays):
            return False
        if name not in self.graph.sizes:
            raise OnnxError(self._different(f"a constant of shape {arrays[0].shape}"))
        return True

    def _expect_alike(self, first: Graph, other: Graph) -> None:
        calls = zip(first.calls, other.calls, strict=False)
        unlike = next((pair for pair in calls if pair[0] != pair[1]), None)
        if unlike is not None:
            raise OnnxError(self._different(f"the operator {unlike[0].op}"))
        if len(first.calls) != len(other.calls) or set(first.arrays) != set(
            other.arrays
        ):
            raise OnnxError(self._different("the number of operators"))

    def _different(self, what: str) -> str:
        return (
            f"onnx.export: {what} is another one with another size of "
            f"{self._free.name!r}, so that no one graph does what the model does. Do "
            f"not let Python values depend on this size, or export with fixed sizes, "
            f"without `dynamic_axes`."
        )

    def _inferred(self, moving: set[str]) -> dict[str, Any]:
        """Return shapes for Reshape in which one free size is inferred."""
        users: dict[str, list[str]] = {}
        for call in self.graph.calls:
            for i, name in enumerate(call.inputs):
                users.setdefault(name, []).append(f"{call.op} {i}")
        found = {}
        for name in moving:
            rows = zip(*(graph.arrays[name] for graph in self._graphs), strict=True)
            varies = [len(set(map(int, row))) > 1 for row in rows]
            shape = self.graph.arrays[name]
            if users.get(name) == ["Reshape 1"] and sum(varies) == 1 and 0 not in shape:
                found[name] = np.where(varies, -1, shape)
        return found

    def _compute(self, name: str) -> None:
        """Add nodes that compute a vector of sizes."""
        rows = zip(*(graph.arrays[name] for graph in self._graphs), strict=True)
        parts = [self._entry(self._affine([int(n) for n in row])) for row in rows]
        self._add("Concat", parts, name, axis=0)
        del self.graph.arrays[name]

    def _entry(self, affine: Affine) -> str:
        """Return the name of a vector with one number."""
        if not affine.factor:
            return self._number(affine.rest)
        value = self._free_size()
        if affine.factor != 1:
            value = self._add("Mul", [value, self._number(affine.factor)])
        if affine.rest:
            value = self._add("Add", [value, self._number(affine.rest)])
        return value

    def _free_size(self) -> str:
        """Return the name of the free size, read from the first input that has it."""
        if not self._size:
            number, axes = next(iter(self._free.axes.items()))
            given = self.graph.inputs[number].name
            words: dict[str, Any] = {"start": axes[0], "end": axes[0] + 1}
            self._size = self._add("Shape", [given], **words)
        return self._size

    def _number(self, number: int) -> str:
        return self.graph.axes([number]).name

    def _add(self, op: str, inputs: list[str], name: str = "", **words: Any) -> str:
        name = name or self.graph.name("size")
        self._computed.append(GraphNode(op, tuple(inputs), (name,), words))
        return name


def fixed(values: Sequence[Value]) -> list[tuple[int | str, ...]]:
    """Return the shapes of values that have no free size."""
    return [value.shape for value in values]
