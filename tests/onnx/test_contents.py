# SPDX-License-Identifier: MIT
"""Memory as values of a graph: what a view shows is what NumPy's view shows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compile.parts import View

from autocalc.errors import OnnxError
from autocalc.onnx._contents import Contents
from autocalc.onnx._graph import Graph


def view_of(array, base):
    start = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return View(0, start, array.shape, array.strides, array.dtype)


def run(graph, values):
    """Run a graph's nodes by NumPy."""
    values = {**graph.arrays, **values}
    for call in graph.calls:
        x, *rest = (values[name] for name in call.inputs)
        words = call.attributes
        if call.op == "Reshape":
            y = x.reshape(rest[0])
        elif call.op == "Transpose":
            y = x.transpose(words["perm"])
        elif call.op == "Expand":
            y = np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(rest[0])))
        elif call.op == "Slice":
            index = [slice(None)] * x.ndim
            for start, end, axis, step in zip(*rest, strict=True):
                index[axis] = slice(start, end, step)
            y = x[tuple(index)]
        elif call.op == "Concat":
            y = np.concatenate([x, *rest], words["axis"])
        elif call.op == "Gather":
            y = np.take(x, rest[0], words["axis"])
        else:
            assert call.op == "ScatterElements"
            y = x.copy()
            np.put_along_axis(y, *rest, words["axis"])
        values[call.outputs[0]] = y
    return values


class Twin:
    """Memory, and the graph that says the same."""

    def __init__(self, size):
        self.base = np.zeros(size, np.float32)
        self.graph = Graph()
        self.contents = Contents(self.graph)
        self.values = {}

    def write(self, view):
        new = np.arange(view.size, dtype=np.float32).reshape(view.shape)
        new += 100 * (len(self.values) + 1)
        value = self.graph.input("x", view.shape, view.dtype)
        self.values[value.name] = new
        view[...] = new
        self.contents.write(view_of(view, self.base), value)

    def check(self, view):
        value = self.contents.read(view_of(view, self.base))
        assert value.shape == view.shape
        found = run(self.graph, self.values)[value.name]
        assert np.array_equal(found, view), (view.shape, view.strides)
        return [call.op for call in self.graph.calls]


def test_what_was_written_needs_no_node():
    twin = Twin(24)
    whole = twin.base.reshape(2, 3, 4)
    twin.write(whole)
    assert twin.check(whole) == []


@pytest.mark.parametrize(
    ("view", "nodes"),
    [
        (lambda a: a.transpose(2, 0, 1), ["Transpose"]),
        (lambda a: a.reshape(6, 4), ["Reshape"]),
        (lambda a: a[:, 1:], ["Slice"]),
        (lambda a: a[1], ["Slice", "Reshape"]),
        (lambda a: a[:, ::2, ::3], ["Slice"]),
        (lambda a: a[..., None], ["Reshape"]),
        (lambda a: np.broadcast_to(a, (5, 2, 3, 4)), ["Reshape", "Expand"]),
        (lambda a: a.reshape(24)[5:17].reshape(3, 4), ["Reshape", "Slice", "Reshape"]),
        (lambda a: a[:, :, 1].T, ["Slice", "Transpose", "Reshape"]),
        (lambda a: a.reshape(2, 12)[:, 4:8].reshape(2, 2, 2), None),
    ],
)
def test_views_are_few_nodes(view, nodes):
    twin = Twin(24)
    whole = twin.base.reshape(2, 3, 4)
    twin.write(whole)
    found = twin.check(view(whole))
    assert nodes is None or sorted(found) == sorted(nodes)


def test_windows_are_gathered():
    twin = Twin(10)
    twin.write(twin.base)
    windows = np.lib.stride_tricks.sliding_window_view(twin.base, 3)
    assert twin.check(windows) == ["Gather"]


def test_a_view_is_made_once():
    twin = Twin(6)
    whole = twin.base.reshape(2, 3)
    twin.write(whole)
    twin.check(whole.T)
    assert twin.check(whole.T) == ["Transpose"]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_joined_parts_are_one_node(axis):
    twin = Twin(60)
    whole = twin.base.reshape(3, 4, 5)
    cuts = [slice(None)] * 3
    for part in (slice(0, 1), slice(1, 3), slice(3, whole.shape[axis])):
        cuts[axis] = part
        if whole[tuple(cuts)].size:
            twin.write(whole[tuple(cuts)])
    assert twin.check(whole) == ["Concat"]


def test_stacked_parts_are_one_node_and_their_new_dimension():
    twin = Twin(24)
    whole = twin.base.reshape(4, 6)
    for row in whole:
        twin.write(row)
    assert twin.check(whole) == ["Concat", "Reshape"]
    twin = Twin(24)
    whole = twin.base.reshape(6, 4)
    for column in whole.T:
        twin.write(column)
    assert twin.check(whole) == ["Reshape"] * 4 + ["Concat", "Transpose"]


def test_a_write_into_a_part_keeps_the_rest():
    twin = Twin(24)
    whole = twin.base.reshape(4, 6)
    twin.write(whole)
    twin.write(whole[1:3, 2:5])
    assert "ScatterElements" not in twin.check(whole)
    twin.write(whole[:, ::2])
    assert "ScatterElements" in twin.check(whole)
    twin.check(whole[1])


def test_a_whole_write_hides_earlier_ones():
    twin = Twin(12)
    twin.write(twin.base[3:5])
    twin.write(twin.base)
    assert twin.check(twin.base) == []


def test_what_nobody_wrote_and_repeats_are_refused():
    twin = Twin(4)
    with pytest.raises(OnnxError, match=r"onnx\.export: the model reads memory"):
        twin.contents.read(view_of(twin.base, twin.base))
    repeated = View(0, 0, (3,), (0,), np.dtype(np.float32))
    with pytest.raises(OnnxError, match=r"onnx\.export: the model writes into a"):
        twin.contents.write(repeated, twin.graph.input("x", (3,), np.dtype("f4")))


def test_other_dtypes_of_the_same_memory_are_refused():
    twin = Twin(4)
    twin.write(twin.base)
    with pytest.raises(OnnxError, match="holds float32 as int32,"):
        twin.contents.read(view_of(twin.base.view(np.int32), twin.base))
    with pytest.raises(OnnxError, match="as another dtype"):
        twin.contents.read(
            view_of(twin.base.view(np.int16)[1:4].view("i2")[:2], twin.base)._replace(
                dtype=np.dtype("f4")
            )
        )


@st.composite
def views(draw, array):
    """Take one view of another."""
    steps = draw(
        st.lists(st.sampled_from(["slice", "turn", "shape", "new"]), max_size=4)
    )
    for step in steps:
        if step == "slice" and array.ndim:
            axis = draw(st.integers(0, array.ndim - 1))
            n = array.shape[axis]
            start = draw(st.integers(0, n - 1))
            stop = draw(st.integers(start + 1, n))
            width = draw(st.integers(1, 3))
            index = [slice(None)] * array.ndim
            one = draw(st.booleans()) and array.size > 1
            index[axis] = start if one else slice(start, stop, width)
            array = array[(*index, ...)]
        elif step == "turn":
            array = array.transpose(draw(st.permutations(range(array.ndim))))
        elif step == "shape" and array.flags.c_contiguous:
            flat = array.reshape(-1)
            n = draw(
                st.sampled_from(
                    [d for d in range(1, flat.size + 1) if flat.size % d == 0]
                )
            )
            array = flat.reshape(n, flat.size // n)
        elif step == "new":
            array = array[None]
    return array


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_random_writes_and_reads(data):
    shape = data.draw(st.sampled_from([(24,), (4, 6), (2, 3, 4), (5, 1, 3), (7, 2)]))
    twin = Twin(int(np.prod(shape)))
    whole = twin.base.reshape(shape)
    if data.draw(st.booleans()):
        twin.write(whole)
    for _ in range(data.draw(st.integers(1, 3))):
        part = data.draw(views(whole))
        twin.write(part)
        twin.check(part)
        if twin.values and (twin.contents._pieces[0].place.dense):
            twin.check(data.draw(views(part)))
    twin.check(data.draw(views(part)))
