# SPDX-License-Identifier: MIT
"""Damaged ONNX files end in an error of AutoCalc that names the place."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.onnx.test_reading import f, graph_of, node

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcError, CheckpointError, OnnxError

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)


from tools import onnx_mutants, onnx_tests  # noqa: E402


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.onnx"


def test_a_value_that_nothing_makes(path):
    onnx.save(graph_of([node("Add", "x nobody")], {"x": f(2)}), path)
    with pytest.raises(OnnxError, match=r"operator Add \(that makes y\) uses nobody,"):
        ac.onnx.load(path)


def test_an_output_that_nothing_makes(path):
    onnx.save(graph_of([node("Relu", "x", "z")], {"x": f(2)}), path)
    with pytest.raises(OnnxError, match="the graph uses y, which"):
        ac.onnx.load(path)


def test_an_output_without_a_name(path):
    onnx.save(graph_of([node("Relu", "x")], {"x": f(2)}, outputs=("",)), path)
    with pytest.raises(OnnxError, match="input or output of a graph has no name"):
        ac.onnx.load(path)


def test_loops_that_cannot_be_run(path):
    body = onnx.helper.make_graph([node("Neg", "x", "r")], "b", [], [])
    for one, match in (
        (node("Scan", "x", "y", body=body, num_scan_inputs=2**31), "it must be 1 to 1"),
        (node("Loop", "", "y", body=body), "has neither a count nor a condition"),
        (node("Scan", "x", "y", body=body, num_scan_inputs=1), "has version 8, in"),
    ):
        if "Loop" in one.op_type:
            one.input.extend(["", "", "x"])
        opset = 8 if "version" in match else 18
        onnx.save(graph_of([one], {"x": f(2)}, opset=opset), path)
        with pytest.raises(OnnxError, match=match):
            ac.onnx.load(path)


def test_a_cycle(path):
    nodes = [node("Add", "x b", "a"), node("Relu", "a", "b"), node("Relu", "b")]
    onnx.save(graph_of(nodes, {"x": f(2)}), path)
    with pytest.raises(OnnxError, match=r"Add .* uses b, .* not in the order"):
        ac.onnx.load(path)


def test_a_value_that_is_made_twice(path):
    nodes = [node("Relu", "x", "y"), node("Neg", "x", "y")]
    onnx.save(graph_of(nodes, {"x": f(2)}), path)
    with pytest.raises(
        OnnxError, match=r"\) computes y, but the graph already has a value of this"
    ):
        ac.onnx.load(path)


@pytest.mark.parametrize("text", ["{", "[1]", "3", "[" * 100_000, ""])
def test_metadata_that_are_no_object(path, text):
    model = graph_of([node("Relu", "x")], {"x": f(2)})
    onnx.helper.set_model_props(model, {"autocalc_kinds": text})
    onnx.save(model, path)
    with pytest.raises(CheckpointError, match=r"'autocalc_kinds' are .* JSON object"):
        ac.onnx.load(path)


def test_a_constant_with_too_little_data(path):
    model = graph_of([node("Add", "x c")], {"x": f(2)}, {"c": f(2)})
    model.graph.initializer[0].raw_data = b"123"
    onnx.save(model, path)
    with pytest.raises(CheckpointError, match=r"m\.onnx is damaged: ValueError"):
        ac.onnx.load(path)


def test_an_attribute_that_is_no_text(path):
    model = graph_of([node("Gelu", "x", approximate="tanh")], {"x": f(2)}, opset=20)
    model.graph.node[0].attribute[0].s = b"\xff\xfe"
    onnx.save(model, path)
    with pytest.raises(CheckpointError, match=r"m\.onnx is damaged: UnicodeDecode"):
        ac.onnx.load(path)


def test_an_operator_without_its_inputs(path):
    onnx.save(graph_of([node("Add", "x")], {"x": f(2)}), path)
    with pytest.raises(OnnxError, match=r"Add .* has 1 inputs; it needs 2 to 2"):
        ac.onnx.load(path)(ac.ones(2))


def test_attributes_that_are_not_known(path):
    onnx.save(graph_of([node("Relu", "x", wide=1)], {"x": f(2)}), path)
    with pytest.raises(
        OnnxError, match=r"Relu .* attributes wide, which AutoCalc does"
    ):
        ac.onnx.load(path)(ac.ones(2))


def test_outputs_that_are_not_computed(path):
    constants = {"w": f(3, 1, 3), "r": f(1, 3, 3)}
    one = node("Relu", "x", "y z")
    onnx.save(graph_of([one], {"x": f(2)}, constants), path)
    with pytest.raises(
        OnnxError, match=r"\) has the outputs z; the operator has only 1"
    ):
        ac.onnx.load(path)(ac.ones(2))


MODULES = (
    "loop",
    "sequence_map",
    "resize",
    "lstm",
    "attention",
    "scan",
    "qlinearconv",
    "pad",
)


@pytest.mark.filterwarnings("ignore")  # numbers may be huge
def test_mutants_are_read_or_refused(path):
    """``python -m tools.onnx_mutants`` runs thousands."""
    cases = [one for name in MODULES for one in onnx_tests.module_cases(name)]
    rng = np.random.default_rng(0)
    found = Counter()
    for _ in range(300):
        case = cases[int(rng.integers(len(cases)))]
        found[onnx_mutants.outcome(case, onnx_mutants.mutant(case, rng), path)] += 1
    assert not [one for one in found if one.startswith("DEFECT")]
    assert min(found.values()) > 5
    assert set(found) == {"answered", "refused at load", "raised in the call"}


def test_weights_that_are_damaged_are_read_or_refused(path):
    """A file of several parts, of which numbers may change."""
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(18, 3)).eval()
    x = ac.ones(2, 1, 5, 5)
    ac.onnx.export(model, x, path)
    content, refused = path.read_bytes(), 0
    rng = np.random.default_rng(0)
    for _ in range(60):
        path.write_bytes(onnx_mutants.changed_bytes(content, rng))
        try:
            loaded = ac.onnx.load(path)
            with ac.no_grad():
                loaded(x)
        except AutocalcError:
            refused += 1
    assert 10 < refused < 60
