# SPDX-License-Identifier: MIT
"""Branches, loops, sequences and optional values, in eager code and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from tests.onnx.test_reading import f, graph_of, i, node

import autocalc as ac
from autocalc.errors import DTypeError, OnnxError

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)

FLOAT, INT, BOOL = 1, 7, 9


def value(name, kind=FLOAT, shape=None):
    return onnx.helper.make_tensor_value_info(name, kind, shape)


def body(nodes, inputs, outputs, arrays=()):
    return onnx.helper.make_graph(nodes, "body", inputs, outputs, list(arrays))


def loaded(tmp_path, *args, **words):
    path = tmp_path / "m.onnx"
    onnx.save(graph_of(*args, **words), path)
    return ac.onnx.load(path)


def branches():
    """Return a graph: -x if its first size is 2, else a constant times x."""
    array = onnx.numpy_helper.from_array(np.array([3.0], "f4"), "x_constant")
    one = body([node("Neg", "x", "result")], [], [value("result")])
    other = body(
        [node("Mul", "x x_constant", "result")], [], [value("result")], [array]
    )
    return [
        node("Shape", "x", "sizes"),
        node("Gather", "sizes zero", "first"),
        node("Equal", "first two", "condition"),
        node("If", "condition", then_branch=one, else_branch=other),
    ], {"zero": np.array(0), "two": np.array(2)}


def test_a_branch_is_chosen_by_a_size_and_compiled(tmp_path):
    nodes, constants = branches()
    model = loaded(tmp_path, nodes, {"x": f(2)}, constants)
    run = ac.compile(lambda x: model(x) + 0)
    for count, factor in ((2, -1), (3, 3)):
        for _ in range(3):
            x = ac.randn(count)
            assert ac.allclose(model(x), x * factor)
            assert ac.allclose(run(x), x * factor)
    assert len(run.programs) == 2


def test_constants_of_branches_are_parameters(tmp_path):
    nodes, constants = branches()
    path = tmp_path / "m.onnx"
    onnx.save(graph_of(nodes, {"x": f(2)}, constants), path)
    model = ac.onnx.load(path, trainable=True)
    assert [name for name, _ in model.named_parameters()] == ["x_constant"]
    model(ac.ones(3)).sum().backward()
    assert model.x_constant.grad.tolist() == [3.0]


def powers(count="count"):
    """Return a loop that adds x, and stacks the squares of the sums."""
    inside = body(
        [
            node("Add", "sum x", "next"),
            node("Identity", "on", "still"),
            node("Mul", "next next", "square"),
        ],
        [value("i", INT, []), value("on", BOOL, []), value("sum")],
        [value("still", BOOL, []), value("next"), value("square")],
    )
    return node("Loop", f"{count} on x", "last y", body=inside)


def test_a_loop_stacks_what_it_makes(tmp_path):
    nodes = [node("Shape", "x", "sizes"), node("Gather", "sizes zero", "count")]
    constants = {"zero": np.array(0), "on": np.array(True)}
    model = loaded(tmp_path, [*nodes, powers()], {"x": f(3)}, constants)
    run = ac.compile(lambda x: model(x) + 0)
    for count in (2, 3):
        for _ in range(3):
            x = ac.randn(count)
            wanted = ac.stack([((k + 2) * x) ** 2 for k in range(count)])
            assert ac.allclose(model(x), wanted)
            assert ac.allclose(run(x), wanted)


def test_a_loop_without_rounds(tmp_path):
    constants = {"count": np.array(0), "on": np.array(True)}
    model = loaded(tmp_path, [powers()], {"x": f(3)}, constants)
    with pytest.raises(OnnxError, match=r"Loop \(.*\) ran no round, so the shapes"):
        model(ac.ones(3))


def test_a_scan_in_both_directions(tmp_path):
    inside = body(
        [node("Add", "sum row", "next"), node("Identity", "next", "out")],
        [value("sum"), value("row")],
        [value("next"), value("out")],
    )
    words = {
        "body": inside,
        "num_scan_inputs": 1,
        "scan_input_axes": [1],
        "scan_input_directions": [1],
        "scan_output_axes": [1],
        "scan_output_directions": [1],
    }
    scan = node("Scan", "zero x", "last y", **words)
    model = loaded(tmp_path, [scan], {"x": f(2, 4)}, {"zero": np.zeros(2, "f4")})
    x = ac.randn(2, 4)
    assert ac.allclose(model(x), x.flip(1).cumsum(1).flip(1), atol=1e-6)


def test_sequences(tmp_path):
    nodes = [
        node("SequenceConstruct", "x c", "a"),
        node("SequenceInsert", "a x zero", "b"),
        node("SequenceErase", "b one", "d"),
        node("SequenceLength", "d", "count"),
        node("ConcatFromSequence", "d", "all", axis=0),
        node("Cast", "count", "number", to=FLOAT),
        node("Add", "all number"),
    ]
    constants = {"c": f(2), "zero": np.array(0), "one": np.array(1)}
    model = loaded(tmp_path, nodes, {"x": f(2)}, constants)
    x = ac.randn(2)
    wanted = ac.cat([x, ac.from_numpy(constants["c"].copy())]) + 2
    assert ac.allclose(model(x), wanted)


def test_inputs_that_are_sequences_and_optional(tmp_path):
    helper = onnx.helper
    tensor = helper.make_tensor_type_proto(FLOAT, [2])
    model = graph_of(
        [node("SequenceAt", "s zero", "a"), node("OptionalHasElement", "o", "there")],
        {"x": f(2)},
        {"zero": np.array(0)},
        ("a", "there"),
    )
    model.graph.input.extend(
        [
            helper.make_value_info("s", helper.make_sequence_type_proto(tensor)),
            helper.make_value_info("o", helper.make_optional_type_proto(tensor)),
        ]
    )
    onnx.save(model, tmp_path / "m.onnx")
    module, x = ac.onnx.load(tmp_path / "m.onnx"), ac.ones(2)
    first, there = module(x, [x + 1], None)
    assert first.tolist() == [2, 2]
    assert not there
    assert module(x, [x], x)[1]
    with pytest.raises(DTypeError, match=r"`s` is .*; it must be a list of tensors"):
        module(x, x, None)
    with pytest.raises(DTypeError, match=r"`s` is a tensor of .*float64; the graph"):
        module(x, [x.double()], None)
    with pytest.raises(DTypeError, match="`x` is None; it must be a tensor"):
        module(None, [x], None)


SIZES = [
    node("Shape", "x", "sizes"),
    node("Cast", "sizes", "exact", to=FLOAT),
    node("Mul", "exact half", "halved"),
    node("Floor", "halved", "floor"),
    node("Cast", "floor", "whole", to=INT),
    node("Slice", "whole one three", "last"),
    node("ReduceProd", "last", "product", keepdims=1),
    node("Slice", "sizes zero one", "first"),
    node("Concat", "first minus product", "wanted", axis=0),
    node("Equal", "wanted minus", "open"),
    node("ConstantOfShape", "three", "fill"),
    node("Cast", "fill", "ones", to=INT),
    node("Sub", "ones unit", "least"),
    node("Where", "open least wanted", "shape"),
    node("Reshape", "x shape"),
]


def test_sizes_are_numbers_of_any_operator(tmp_path):
    constants = {
        "half": np.float32(0.5), "zero": i(0), "one": i(1), "three": i(3),
        "minus": i(-1), "unit": i(1),
    }  # fmt: skip
    model = loaded(tmp_path, SIZES, {"x": f(2, 4, 6)}, constants)
    run = ac.compile(lambda x: model(x) + 0)
    for shape in ((2, 4, 6), (3, 2, 4)):
        wanted = (shape[0], -1, shape[1] * shape[2] // 4)
        for _ in range(3):
            x = ac.randn(*shape)
            assert ac.equal(model(x), x.reshape(*wanted))
            assert ac.equal(run(x), x.reshape(*wanted))
    assert len(run.programs) == 2
    folded = [one.op for one in model._block.nodes]
    assert "ConstantOfShape" not in folded  # it depends on constants alone
