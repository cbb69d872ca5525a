# SPDX-License-Identifier: MIT
"""Damaged ONNX files end in an error of AutoCalc that names the place."""

from __future__ import annotations

import numpy as np
import pytest
from tests.onnx.test_reading import f, graph_of, node

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcError, CheckpointError, OnnxError

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)


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


def mutants(content, rng):
    """Yield a file with bytes changed, cut out, repeated, and cut short."""
    for _ in range(60):
        place, count = (int(n) for n in rng.integers(0, len(content), 2))
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        yield bytes(changed)
        changed[place] = int(rng.integers(256))
        yield bytes(changed)
        length = count % 40
        yield content[:place] + content[place + length :]
        yield content[:place] + content[place : place + length] + content[place:]
        yield content[:place]


MODELS = {
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(2, 3), nn.Softmax(1),
        ),
        (2, 1, 5, 5),
    ),
    "recurrent": (lambda: nn.GRU(3, 2), (2, 1, 3)),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 4, 0.0), (2, 1, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")  # numbers may be huge
def test_mutants_are_read_or_refused(name, path):
    model, shape = MODELS[name]
    x = ac.ones(*shape)
    ac.onnx.export(model().eval(), x, path)
    rng = np.random.default_rng(0)
    refused = 0
    for content in mutants(path.read_bytes(), rng):
        path.write_bytes(content)
        try:
            loaded = ac.onnx.load(path)
            with ac.no_grad():
                loaded(x)
        except AutocalcError:
            refused += 1
    assert refused > 100
