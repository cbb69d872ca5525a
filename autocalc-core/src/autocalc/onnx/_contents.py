# SPDX-License-Identifier: MIT
"""The contents of a recording's memory, as values of a graph.

A recording sees strided views of memory, but a graph has values and no memory.  Each
slot is a list of *pieces*: views with the value that was written there.  A view that is
read may be one of the pieces.  It may be made of one piece by transposing, slicing and
reshaping, or of several pieces by joining them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from autocalc._kernels.spec import Array, Shape
from autocalc._program._views import View
from autocalc.errors import OnnxError
from autocalc.onnx._graph import Graph, Value


class StridedView(NamedTuple):
    """A view in elements: the position of its first element, sizes and strides."""

    offset: int
    shape: Shape
    strides: Shape

    @property
    def stop(self) -> int:
        """The position after the last element."""
        pairs = zip(self.shape, self.strides, strict=True)
        return self.offset + sum((n - 1) * s for n, s in pairs) + 1

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def dense(self) -> bool:
        """Whether the elements fill their memory, each once."""
        return self.size == self.stop - self.offset and not self.repeats

    @property
    def repeats(self) -> bool:
        """Whether a dimension repeats its elements."""
        pairs = zip(self.shape, self.strides, strict=True)
        return any(s == 0 and n > 1 for n, s in pairs)

    def dims(self) -> list[int]:
        """Return the dimensions of more than one element, the largest stride first."""
        wide = [i for i, n in enumerate(self.shape) if n > 1 and self.strides[i]]
        return sorted(wide, key=lambda i: -self.strides[i])

    def places(self) -> Array:
        """Return the position of each element, counted from the start of the slot."""
        grid: Array = np.full(self.shape, self.offset, np.int64)
        for axis, (n, s) in enumerate(zip(self.shape, self.strides, strict=True)):
            lead = (n,) + (1,) * (len(self.shape) - axis - 1)
            grid += (np.arange(n) * s).reshape(lead)
        return grid


class Piece(NamedTuple):
    """A value, and where it was written."""

    place: StridedView
    value: Value


def place_of(view: View) -> StridedView:
    """Return an array's view, measured in elements."""
    size = view.dtype.itemsize
    odd = view.offset % size or any(s % size for s in view.strides)
    if odd:
        message = (
            "onnx.export: the model reads memory as another dtype, which ONNX cannot "
            "express."
        )
        raise OnnxError(message)
    one = zip(view.shape, view.strides, strict=True)
    strides = tuple(0 if n == 1 else s // size for n, s in one)
    return StridedView(view.offset // size, tuple(view.shape), strides)


class Contents:
    """The contents of one slot."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._pieces: list[Piece] = []
        self._made: dict[StridedView, Value] = {}

    def write(self, view: View, value: Value) -> None:
        """Store a value in `view`."""
        place = place_of(view)
        if not place.size:
            return
        if place.repeats:
            raise OnnxError(
                "onnx.export: the model writes into a view that repeats elements, "
                "which ONNX cannot express. Call clone() on the view first."
            )
        if place.dense:
            hidden = (place.offset, place.stop)
            self._pieces = [p for p in self._pieces if not _inside(p.place, hidden)]
        self._pieces.append(Piece(place, value))
        self._made = {}

    def read(self, view: View) -> Value:
        """Return the value of `view`."""
        place = place_of(view)
        if not place.size:
            return self._graph.constant(np.empty(place.shape, view.dtype))
        if place not in self._made:
            value = self._read(place)
            if value.dtype != view.dtype:
                raise OnnxError(
                    f"onnx.export: the model reads memory that holds {value.dtype} as "
                    f"{view.dtype}, which ONNX cannot express."
                )
            self._made[place] = value
        return self._made[place]

    def _read(self, place: StridedView) -> Value:
        near = [p for p in self._pieces if _meet(p.place, place)]
        if not near:
            raise OnnxError(
                "onnx.export: the model reads memory that it has not written, as that "
                "of ac.empty. Write all elements first."
            )
        last = near[-1]
        if last.place == place:
            return last.value
        alone = last.place.dense or _box(last.place, place) is not None
        if len(near) > 1 or not alone:
            last = self._whole()
        return restrided(self._graph, last, place)

    def _whole(self) -> Piece:
        """Merge all pieces into one."""
        piece = joined(self._graph, self._pieces) or overlaid(self._graph, self._pieces)
        self._pieces = [piece]
        return piece


def _inside(place: StridedView, limits: tuple[int, int]) -> bool:
    return limits[0] <= place.offset and place.stop <= limits[1]


def _meet(a: StridedView, b: StridedView) -> bool:
    """Return whether two views may share elements."""
    return a.offset < b.stop and b.offset < a.stop


def _box(outer: StridedView, inner: StridedView) -> list[tuple[int, int, int]] | None:
    """Return (start, count, step) in each dimension of `outer` that give `inner`.

    The dimensions of `inner` may have another order.  Return None if `inner` is not
    such a box.
    """
    order = outer.dims()
    left = {i: (inner.shape[i], inner.strides[i]) for i in inner.dims()}
    cuts = [(0, 1, 1)] * len(outer.shape)
    rest = inner.offset - outer.offset
    if rest < 0:
        return None
    for dim in order:
        step, size = outer.strides[dim], outer.shape[dim]
        start, rest = divmod(rest, step)
        taken = next((i for i, (_, s) in left.items() if s % step == 0), None)
        n, s = left.pop(taken) if taken is not None else (1, step)
        if start + (n - 1) * (s // step) >= size:
            return None
        cuts[dim] = start, n, s // step
    return None if left or rest else cuts


def restrided(graph: Graph, piece: Piece, place: StridedView) -> Value:
    """Return the value of a view of a piece that fills its memory."""
    cuts = _box(piece.place, place)
    if cuts is not None:
        value = (
            graph.cut(piece.value, *zip(*cuts, strict=True)) if cuts else piece.value
        )
        order = [i for i in piece.place.dims() if cuts[i][1] > 1]
        return _arranged(graph, value, order, place)
    split = _split(piece.place, place) or _split(piece.place, _merged(place))
    if split is None:
        row = _in_memory_order(graph, piece)
        return graph.taken(row, place.places() - piece.place.offset)
    shape, starts, counts = split
    row = graph.reshape(_in_memory_order(graph, piece), shape)
    value = graph.cut(row, starts, counts, [1] * len(shape))
    sizes = [place.shape[i] for i in place.dims()]
    value = graph.reshape(value, sizes)
    return _arranged(graph, value, list(range(len(sizes))), place)


def _merged(place: StridedView) -> StridedView:
    """Return the view with nested dimensions merged to one."""
    runs: list[list[int]] = []
    for dim in place.dims():
        n, s = place.shape[dim], place.strides[dim]
        if runs and runs[-1][1] == n * s:
            runs[-1] = [runs[-1][0] * n, s]
        else:
            runs.append([n, s])
    shape, strides = (tuple(run[i] for run in runs) for i in (0, 1))
    return StridedView(place.offset, shape, strides)


def _in_memory_order(graph: Graph, piece: Piece) -> Value:
    """Return the value with its dimensions in the order that they have in memory."""
    dims = piece.place.dims()
    ones = [i for i in range(len(piece.place.shape)) if i not in dims]
    return graph.permute(piece.value, _stable(piece.place, [*ones, *dims]))


def _stable(place: StridedView, order: list[int]) -> list[int]:
    """Return the order, or sorted dimensions if the view already has that order."""
    dims = place.dims()
    return sorted(order) if dims == sorted(dims) else order


def _split(
    outer: StridedView, place: StridedView
) -> tuple[list[int], list[int], list[int]] | None:
    """Return a shape of the memory, and starts and counts in it, that give a view.

    Return None if the view does not consist of blocks within blocks.
    """
    rest, block = place.offset - outer.offset, outer.size
    shape: list[int] = []
    starts: list[int] = []
    counts: list[int] = []
    for dim in place.dims():
        n, s = place.shape[dim], place.strides[dim]
        start, rest = divmod(rest, s)
        if block % s or start + n > block // s:
            return None
        shape.append(block // s)
        starts.append(start)
        counts.append(n)
        block = s
    if block > 1:
        shape.append(block)
        starts.append(rest)
        counts.append(1)
    return shape, starts, counts


def _arranged(
    graph: Graph, value: Value, order: list[int], place: StridedView
) -> Value:
    """Return a value with its dimensions in the order of a view.

    `order` has the dimensions of `value` with more than one element, the largest stride
    first.
    """
    wanted = [i for i, n in enumerate(place.shape) if n > 1 and place.strides[i]]
    rank = {dim: number for number, dim in enumerate(place.dims())}
    axes = [order[rank[i]] for i in wanted]
    if axes != sorted(axes):
        ones = [i for i in range(len(value.shape)) if i not in axes]
        value = graph.permute(value, [*ones, *axes])
    one = zip(place.shape, place.strides, strict=True)
    shape = tuple(n if s else 1 for n, s in one)
    return graph.expand(graph.reshape(value, shape), place.shape)


def joined(graph: Graph, pieces: Sequence[Piece]) -> Piece | None:
    """Return pieces that follow each other in one dimension as one piece, or None."""
    line = sorted(pieces, key=lambda piece: piece.place.offset)
    first = line[0].place
    if len(line) < 2 or any(len(p.place.shape) != len(first.shape) for p in line):
        return None
    step = line[1].place.offset - first.offset
    for axis in range(len(first.shape)):
        place = _lined_up(line, axis)
        if place is not None:
            return Piece(place, graph.concat([p.value for p in line], axis))
    if step and all(p.place[1:] == first[1:] for p in line):
        new = [
            Piece(StridedView(p.place.offset, (1, *p.place.shape),
                              (step, *p.place.strides)),
                  graph.reshape(p.value, (1, *p.place.shape)))
            for p in line
        ]  # fmt: skip
        place = _lined_up(new, 0)
        if place is not None:
            return Piece(place, graph.concat([p.value for p in new], 0))
    return None


def _lined_up(line: Sequence[Piece], axis: int) -> StridedView | None:
    """Return the view of pieces that follow each other along `axis`, or None."""
    widest = max(line, key=lambda p: p.place.shape[axis]).place
    step = widest.strides[axis]
    if not step:  # for single elements, take the distance of the first two
        step = line[1].place.offset - line[0].place.offset
    if not step:
        return None
    start, shape = line[0].place.offset, list(widest.shape)
    for piece in line:
        place = piece.place
        if place.offset != start:
            return None
        for i, (n, s) in enumerate(zip(place.shape, place.strides, strict=True)):
            same = n == shape[i] and s == widest.strides[i]
            if not (same if i != axis else s in {0, step}):
                return None
        start += place.shape[axis] * step
    shape[axis] = (start - line[0].place.offset) // step
    strides = tuple(step if i == axis else s for i, s in enumerate(widest.strides))
    whole = StridedView(line[0].place.offset, tuple(shape), strides)
    return whole if whole.dense else None


def overlaid(graph: Graph, pieces: Sequence[Piece]) -> Piece:
    """Return the first piece, which fills all memory, overwritten by the others."""
    first = pieces[0]
    start = min(p.place.offset for p in pieces)
    stop = max(p.place.stop for p in pieces)
    if not first.place.dense or (first.place.offset, first.place.stop) != (start, stop):
        row = StridedView(start, (stop - start,), (1,))
        zero = graph.constant(np.zeros((), first.value.dtype))
        first = Piece(row, graph.expand(zero, row.shape))
        pieces = [first, *pieces]
    for piece in pieces[1:]:
        cuts = _box(first.place, piece.place)
        if cuts is not None and all(step == 1 for _, _, step in cuts):
            part = _as_box(graph, first.place, cuts, piece)
            value = _pasted(graph, first.value, part, cuts, 0)
        else:
            value = _scattered(graph, first, piece)
        first = Piece(first.place, value)
    return first


def _as_box(
    graph: Graph, outer: StridedView, cuts: Sequence[tuple[int, int, int]], piece: Piece
) -> Value:
    """Return the value of a piece with the dimensions of the box that it overwrites."""
    shape = tuple(n for _, n, _ in cuts)
    sizes = zip(shape, outer.strides, strict=True)
    inner = StridedView(0, shape, tuple(s if n > 1 else 0 for n, s in sizes))
    return _arranged(graph, piece.value, piece.place.dims(), inner)


def _pasted(
    graph: Graph,
    value: Value,
    part: Value,
    cuts: Sequence[tuple[int, int, int]],
    axis: int,
) -> Value:
    """Return `value` with `part` in the box; recursive over dimensions from `axis`."""
    if axis == len(cuts):
        return part
    start, count, _ = cuts[axis]
    stop, size = start + count, value.shape[axis]

    def between(first: int, last: int) -> Value:
        starts = [first if i == axis else 0 for i in range(len(cuts))]
        counts = [last - first if i == axis else n for i, n in enumerate(value.shape)]
        return graph.cut(value, starts, counts, [1] * len(cuts))

    parts = [_pasted(graph, between(start, stop), part, cuts, axis + 1)]
    if start:
        parts.insert(0, between(0, start))
    if stop < size:
        parts.append(between(stop, size))
    return graph.concat(parts, axis)


def _scattered(graph: Graph, first: Piece, piece: Piece) -> Value:
    """Return the first piece with the elements of another one at their positions."""
    row = graph.reshape(_in_memory_order(graph, first), (first.place.size,))
    places = (piece.place.places() - first.place.offset).reshape(-1)
    new = graph.reshape(piece.value, (piece.place.size,))
    row = graph.node("ScatterElements", row, graph.constant(places), new,
                     shape=row.shape, axis=0)  # fmt: skip
    flat = StridedView(first.place.offset, (first.place.size,), (1,))
    return restrided(graph, Piece(flat, row), first.place)
