# SPDX-License-Identifier: MIT
"""A graph that is being written: nodes, constant arrays, and helpers for nodes.

The shapes are those of one recording.  Sizes are distinguished from other constants.
So graphs of several recordings can be merged into one with free sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT32, HALVES
from autocalc._kernels.spec import Array, DType, Shape
from autocalc._tensor.dtypes import bfloat16

_INT64 = np.dtype(np.int64)

#: Operators of ONNX that take float16 but not bfloat16, and operators that take
#: neither.
WITHOUT_BFLOAT16 = frozenset({
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "AveragePool", "Conv",
    "ConvTranspose", "Cos", "Cosh", "Einsum", "Elu", "GRU", "GlobalAveragePool",
    "GlobalMaxPool", "HardSigmoid", "HardSwish", "InstanceNormalization", "LSTM",
    "MaxPool", "Mish", "OneHot", "RNN", "Round", "Selu", "Sin", "Sinh", "Softplus",
    "Softsign", "Tan", "TopK",
})  # fmt: skip
WITHOUT_HALVES = frozenset({"Celu", "IsInf", "Range"})
_BFLOAT16, _NONE = frozenset({bfloat16.numpy}), frozenset[DType]()


class Value(NamedTuple):
    """A value: the result of a node, an input or a constant array."""

    name: str
    shape: Shape
    dtype: DType


@dataclass(slots=True)
class GraphNode:
    """One node."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


def _refused(op: str) -> frozenset[DType]:
    """Return the half-precision dtypes that an operator does not take."""
    if op in WITHOUT_HALVES:
        return HALVES
    return _BFLOAT16 if op in WITHOUT_BFLOAT16 else _NONE


def _wide(dtype: DType, refused: frozenset[DType]) -> DType:
    return FLOAT32 if dtype in refused else dtype


class Graph:
    """Nodes in the order in which they run.

    Attributes
    ----------
    calls
        The nodes of the graph.
    arrays
        Constant arrays by name.
    sizes
        The names of the constant arrays that hold sizes.
    kinds
        The kind of each name: "parameter" or "buffer".
    inputs, outputs
        The inputs and outputs of the whole graph.
    """

    def __init__(self) -> None:
        self.calls: list[GraphNode] = []
        self.arrays: dict[str, Array] = {}
        self.sizes: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self._names: set[str] = {""}
        self._known: dict[tuple[Any, ...], Value] = {}

    def name(self, wanted: str) -> str:
        """Return `wanted`, with a number appended if that name is taken."""
        name, count = wanted, 0
        while name in self._names:
            count += 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name

    def input(self, wanted: str, shape: Shape, dtype: DType) -> Value:
        """Add an input of the whole graph."""
        value = Value(self.name(wanted), shape, dtype)
        self.inputs.append(value)
        return value

    def node(
        self,
        op: str,
        *inputs: Value | None,
        shape: Shape | None = None,
        dtype: DType | None = None,
        **attributes: Any,
    ) -> Value:
        """Add a node with one output; its default shape is that of broadcast inputs."""
        there = [x for x in inputs if x is not None]
        if shape is None:
            shape = np.broadcast_shapes(*(x.shape for x in there))
        meta = (shape, there[0].dtype if dtype is None else dtype)
        return self.several(op, inputs, [meta], **attributes)[0]

    def several(
        self,
        op: str,
        inputs: Sequence[Value | None],
        metas: Sequence[tuple[Shape, DType]],
        **attributes: Any,
    ) -> tuple[Value, ...]:
        """Add a node with several outputs of these shapes and dtypes.

        Inputs of half precision that the operator does not take are cast to float32,
        and the results are cast back.
        """
        refused = _refused(op)
        if refused and any(x is not None and x.dtype in refused for x in inputs):
            wide = [x and self.cast(x, _wide(x.dtype, refused)) for x in inputs]
            types = [(shape, _wide(dtype, refused)) for shape, dtype in metas]
            results = self.several(op, wide, types, **attributes)
            pairs = zip(results, metas, strict=True)
            return tuple([self.cast(x, dtype) for x, (_, dtype) in pairs])
        outputs = tuple(
            Value(self.name(op.lower()), tuple(shape), dtype) for shape, dtype in metas
        )
        names = ["" if x is None else x.name for x in inputs]
        while names and not names[-1]:
            names.pop()
        given = {key: one for key, one in attributes.items() if one is not None}
        self.calls.append(
            GraphNode(op, tuple(names), tuple(x.name for x in outputs), given)
        )
        return outputs

    # ---- constants ----------------------------------------------------------------

    def array(self, array: Array, name: str) -> Value:
        """Add a constant array under a new name."""
        value = Value(self.name(name), array.shape, array.dtype)
        self.arrays[value.name] = array
        return value

    def constant(self, array: Any, dtype: DType | None = None) -> Value:
        """Return a constant; equal constants are stored once."""
        array = np.asarray(array, dtype)
        key = array.shape, array.dtype, array.tobytes()
        if key not in self._known:
            self._known[key] = self.array(array, "constant")
        return self._known[key]

    def numbers(self, numbers: Sequence[int]) -> Value:
        """Return a vector of sizes or positions."""
        value = self.array(np.array(numbers, np.int64), "sizes")
        self.sizes.add(value.name)
        return value

    def axes(self, axes: Sequence[int]) -> Value:
        """Return a vector that does not depend on free sizes."""
        return self.constant(np.array(axes, np.int64))

    # ---- other views of a value ------------------------------------------------------

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        """Return `x` in another shape."""
        shape = tuple(map(int, shape))
        if shape == x.shape:
            return x
        zero = 1 if 0 in shape else None
        sizes = self.numbers(shape)
        return self.node(
            "Reshape", x, sizes, shape=shape, dtype=x.dtype, allowzero=zero
        )

    def permute(self, x: Value, axes: Sequence[int]) -> Value:
        """Return `x` with its dimensions in another order."""
        axes = [int(axis) % len(x.shape) for axis in axes]
        if axes == list(range(len(axes))):
            return x
        return self.node(
            "Transpose", x, shape=tuple(x.shape[i] for i in axes), perm=axes
        )

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """Return `x` repeated to `shape`."""
        shape = tuple(map(int, shape))
        if shape == x.shape:
            return x
        return self.node("Expand", x, self.numbers(shape), shape=shape)

    def cast(self, x: Value, dtype: DType) -> Value:
        """Return `x` in another dtype."""
        dtype = np.dtype(dtype)
        if dtype == x.dtype:
            return x
        return self.node("Cast", x, dtype=dtype, to=dtype)

    def cut(
        self,
        x: Value,
        starts: Sequence[int],
        counts: Sequence[int],
        steps: Sequence[int],
    ) -> Value:
        """Return `counts` elements of each dimension, by these starts and steps."""
        whole = zip(x.shape, starts, counts, steps, strict=True)
        axes = [i for i, (n, a, m, s) in enumerate(whole) if (a, m, s) != (0, n, 1)]
        if not axes:
            return x
        first = [starts[i] for i in axes]
        ends = [starts[i] + (counts[i] - 1) * steps[i] + 1 for i in axes]
        places = self.numbers(first), self.numbers(ends), self.axes(axes)
        step = self.axes([steps[i] for i in axes])
        return self.node("Slice", x, *places, step, shape=tuple(counts), dtype=x.dtype)

    def concat(self, parts: Sequence[Value], axis: int) -> Value:
        """Join values along a dimension."""
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        dtype = parts[0].dtype
        return self.node("Concat", *parts, shape=tuple(shape), dtype=dtype, axis=axis)

    def taken(self, x: Value, places: Array) -> Value:
        """Return the elements of flattened `x` at positions, in the shape of these."""
        row = self.reshape(x, (prod(x.shape),))
        index = self.constant(places, _INT64)
        return self.node(
            "Gather", row, index, shape=places.shape, dtype=x.dtype, axis=0
        )
