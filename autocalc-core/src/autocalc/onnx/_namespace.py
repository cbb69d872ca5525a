# SPDX-License-Identifier: MIT
"""`Kernels`: the namespace in which decompositions write a graph.

It has the functions of `arrays`, but for values of a graph.  A kernel that has a
*writer* adds its nodes; any other kernel is written as its decomposition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import FLOAT32, HALVES
from autocalc._kernels.spec import Array, DType, KernelSpec, Shape
from autocalc._kernels.table import TABLE
from autocalc.errors import OnnxError
from autocalc.onnx._graph import Graph, Value
from autocalc.onnx._table import WRITERS


class NoWriter(OnnxError):
    """An error for a kernel that ONNX has no nodes for."""


def _half_of(*operands: Any) -> DType | None:
    """Return the dtype of the first value that is float16 or bfloat16."""
    for x in operands:
        parts = x if type(x) is tuple else (x,)
        for one in parts:
            if isinstance(one, Value) and one.dtype in HALVES:
                return one.dtype
    return None


class Kernels:
    """The counterpart of `arrays` that writes a graph."""

    records = True

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.node = graph.node

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return partial(self.run, TABLE[name])
        except KeyError:
            message = f"there is no kernel {name!r} in the kernel table"
            raise AttributeError(message) from None

    def run(self, spec: KernelSpec, *args: Any, want: int = 0, **words: Any) -> Any:
        """Write a kernel call; return its value, or a tuple like the kernel."""
        mandatory = sum(1 << i for i, o in enumerate(spec.outputs) if not o.optional)
        args = (*args, *self._defaults(spec, len(args)))
        writer = WRITERS.get(spec.name)
        plain = not want & ~mandatory and not set(words) & set(spec.accumulates)
        if writer is not None and plain:
            return self._padded(spec, writer(self, *args, **words))
        if spec.decomposition is None:
            raise NoWriter(spec.name)
        if mandatory + 1 != 1 << len(spec.outputs):
            words["want"] = want | mandatory
        half = _half_of(*args, *words.values())
        if half is not None:  # each of them is rounded once
            return self._in_float32(spec, half, args, words)
        return spec.decomposition(self, *args, **words)

    def _in_float32(
        self, spec: KernelSpec, half: DType, args: Any, words: dict[str, Any]
    ) -> Any:
        """Write a decomposition of half precision in float32; round its results."""
        wide = [self._cast_all(x, HALVES, FLOAT32) for x in args]
        named = {key: self._cast_all(x, HALVES, FLOAT32) for key, x in words.items()}
        results = self.run(spec, *wide, **named)
        return self._cast_all(results, {FLOAT32}, half)

    def _cast_all(self, x: Any, dtypes: Collection[DType], dtype: DType) -> Any:
        """Cast a value, or the values in a tuple, to `dtype` if it is of `dtypes`."""
        if isinstance(x, Value):
            return self.graph.cast(x, dtype) if x.dtype in dtypes else x
        if type(x) is tuple:
            return tuple([self._cast_all(one, dtypes, dtype) for one in x])
        return x

    @staticmethod
    def _defaults(spec: KernelSpec, count: int) -> tuple[Any, ...]:
        attributes = len(spec.attributes) - bool(spec.accumulates)
        missing = len(spec.inputs) + len(spec.writes) + attributes - count
        return spec.defaults[len(spec.defaults) - missing :] if missing else ()

    @staticmethod
    def _padded(spec: KernelSpec, result: Any) -> Any:
        """Insert None for missing optional outputs."""
        if len(spec.outputs) == 1:
            return result
        results = iter(result if type(result) is tuple else (result,))
        return tuple([None if o.optional else next(results) for o in spec.outputs])

    # ---- what is known without computing ---------------------------------------

    @staticmethod
    def shape(a: Value) -> Shape:
        """Return the shape of `a`."""
        return a.shape

    @staticmethod
    def dtype(a: Value) -> DType:
        """Return the dtype of `a`."""
        return a.dtype

    @staticmethod
    def is_view(a: Value) -> bool:  # noqa: ARG004  as `arrays` has it
        """Return True, because nothing here is written in place."""
        return True

    # ---- making values --------------------------------------------------------------

    def constant(self, value: Any, like: Value) -> Value:
        """Return a number in the dtype of `like`."""
        return self.graph.constant(value, like.dtype)

    def full(self, shape: Shape, value: Any, dtype: DType) -> Value:
        """Return a number, repeated to `shape`."""
        return self.graph.expand(self.graph.constant(value, dtype), shape)

    def zeros(self, shape: Shape, dtype: DType) -> Value:
        """Return zeros."""
        return self.full(shape, 0, dtype)

    def arange(self, n: int, like: Value) -> Value:  # noqa: ARG002  its device
        """Return the integers below `n`."""
        return self.graph.constant(np.arange(n))

    def cast(self, a: Value, dtype: DType) -> Value:
        """Return `a` in another dtype."""
        return self.graph.cast(a, dtype)

    def copy(self, a: Value, into: Any = None) -> Value:
        """Return `a`, because values never change."""
        assert into is None  # decompositions return new values
        return a

    contiguous = frozen = copy

    # ---- views -----------------------------------------------------------------------

    def reshape(self, a: Value, shape: Sequence[int]) -> Value:
        """Return `a` in another shape, of which one size may be -1."""
        if -1 in shape:
            rest = prod(a.shape) // max(-prod(shape), 1)
            shape = [rest if n == -1 else n for n in shape]
        return self.graph.reshape(a, shape)

    def permute(self, a: Value, axes: Sequence[int]) -> Value:
        """Return `a` with its dimensions in another order."""
        return self.graph.permute(a, axes)

    def expand(self, a: Value, shape: Shape) -> Value:
        """Return `a` repeated to `shape`."""
        return self.graph.expand(a, shape)

    def slice(self, a: Value, index: Any) -> Value:
        """Return ``a[index]`` for integers, slices, None and Ellipsis."""
        index = index if isinstance(index, tuple) else (index,)
        like: Array = np.broadcast_to(np.empty((), np.bool_), a.shape)[index]
        used = [one for one in index if one is not None and one is not Ellipsis]
        where = index.index(Ellipsis) if Ellipsis in index else len(index)
        lead = sum(one is not None for one in index[:where])
        full = [slice(None)] * (len(a.shape) - len(used))
        ranges = [
            range(n)[one] if isinstance(one, slice) else range(n)[one : one + 1 or None]
            for n, one in zip(a.shape, [*used[:lead], *full, *used[lead:]], strict=True)
        ]
        starts, counts = [r.start for r in ranges], [len(r) for r in ranges]
        value = self.graph.cut(a, starts, counts, [r.step for r in ranges])
        return self.graph.reshape(value, like.shape)

    def cat(self, parts: Sequence[Value], axis: int) -> Value:
        """Join values along a dimension."""
        return self.graph.concat(list(parts), axis)

    def stack(self, parts: Sequence[Value], axis: int) -> Value:
        """Join values along a new dimension."""
        shape = list(parts[0].shape)
        shape.insert(axis, 1)
        return self.cat([self.reshape(part, shape) for part in parts], axis)

    # ---- composed --------------------------------------------------------------------

    def add_into(self, total: Value, value: Value) -> Value:
        """Return the sum."""
        return self.node("Add", total, value)

    def add_into_slice(self, total: Value, index: Any, part: Value) -> Value:
        """Return `total` with `part` added at ``[index]``."""
        graph, shape = self.graph, (prod(total.shape),)
        places: Array = np.arange(shape[0]).reshape(total.shape)[index].reshape(-1)
        row, new = graph.reshape(total, shape), graph.reshape(part, places.shape)
        given = row, graph.constant(places), new
        words: dict[str, Any] = {"axis": 0, "reduction": "add"}
        row = self.node("ScatterElements", *given, shape=shape, **words)
        return graph.reshape(row, total.shape)

    def sum_to(self, a: Value, shape: Shape) -> Value:
        """Sum `a` over the dimensions in which `shape` was broadcast to it."""
        lead = len(a.shape) - len(shape)
        ones = tuple(
            lead + i for i, n in enumerate(shape) if n == 1 and a.shape[lead + i] != 1
        )
        axes = (*range(lead), *ones)
        kept = self.run(TABLE["sum"], a, axes, True) if axes else a
        return self.reshape(kept, shape)
