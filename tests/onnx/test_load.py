# SPDX-License-Identifier: MIT
"""Files as modules: parameters, calls, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.onnx.test_reading import f, graph_of, node

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import ArgumentError, CheckpointError, DTypeError, OnnxError

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.onnx"


def network():
    return nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3)
    )


def test_the_state_is_that_of_the_model(path):
    model = network()
    ac.onnx.export(model, ac.randn(2, 1, 4, 4), path)
    state, loaded = model.state_dict(), ac.onnx.load(path)
    state.pop("1.num_batches_tracked")
    assert set(loaded.state_dict()) == set(state)
    assert all(ac.equal(v, state[k]) for k, v in loaded.state_dict().items())
    assert not any(p.requires_grad for p in loaded.parameters())
    assert {name for name, _ in loaded.named_buffers()} == {
        "1.running_mean",
        "1.running_var",
    }


def test_another_state_is_used(path):
    model, other = network(), network()
    ac.onnx.export(model, ac.randn(2, 1, 4, 4), path)
    loaded = ac.onnx.load(path)
    loaded.load_state_dict(other.state_dict(), strict=False)
    x = ac.randn(2, 1, 4, 4)
    with ac.no_grad():
        assert ac.allclose(loaded(x), other.eval()(x), atol=1e-6)


def test_it_can_be_trained(path):
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    ac.onnx.export(model, ac.randn(32, 4), path)
    loaded = ac.onnx.load(path, trainable=True)
    assert len(list(loaded.parameters())) == 4
    x, y = ac.randn(32, 4), ac.randn(32, 1)
    for net in (model, loaded):
        sgd = optim.SGD(net.parameters(), lr=0.1)
        for _ in range(5):
            sgd.zero_grad()
            ((net(x) - y) ** 2).mean().backward()
            sgd.step()
    wanted = model.state_dict()
    for name, value in loaded.state_dict().items():
        assert ac.allclose(value, wanted[name], atol=1e-6)


def test_it_can_be_compiled_and_exported_again(path):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU6(), nn.Linear(8, 2)).eval()
    ac.onnx.export(model, ac.randn(3, 4), path)
    loaded = ac.onnx.load(path)
    run = ac.compile(loaded)
    x = ac.randn(3, 4)
    with ac.no_grad():
        for _ in range(4):
            assert ac.allclose(run(x), model(x), atol=1e-6)
    (program,) = run.programs
    assert len(program.program.parameters) == 4  # what depends on them alone runs once
    ac.onnx.export(loaded, x, path)
    assert set(ac.onnx.load(path).state_dict()) == set(model.state_dict())


def test_inputs_by_name(path):
    ac.onnx.export(lambda x, y: x - y, (ac.ones(2), ac.ones(2)), path)
    model = ac.onnx.load(path)
    x, y = ac.tensor([3.0, 4.0]), ac.tensor([1.0, 1.0])
    assert model(x, y=y).tolist() == model(y=y, x=x).tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda m: m(), ArgumentError, r"called with 0 inputs by position and \[\]"),
        (lambda m: m(ac.ones(2), ac.ones(2)), ArgumentError, "called with 2 inputs"),
        (lambda m: m(z=ac.ones(2)), ArgumentError, r"\['z'\] by name"),
        (lambda m: m(ac.ones(2), x=ac.ones(2)), ArgumentError, r"1 inputs.*\['x'\]"),
        (lambda m: m([1.0, 2.0]), DTypeError, r"`x` is \[1.0, 2.0\]; it must"),
        (lambda m: m(ac.ones(2).double()), DTypeError, r"needs .*float32.*\.to\("),
    ],
)
def test_calls_are_checked(call, error, match, path):
    ac.onnx.export(lambda x: x * 2, ac.ones(2), path)
    with pytest.raises(error, match=match):
        call(ac.onnx.load(path))


def test_all_operators_that_are_missing_are_listed(path):
    nodes = [
        node("StringNormalizer", "x", "a"),
        onnx.helper.make_node("Own", ["x"], ["b"], domain="com.example"),
        onnx.helper.make_node("Own", ["x"], ["c"], domain="com.example"),
        node("Relu", "x", "y"),
    ]
    model = graph_of(nodes, {"x": f(2)})
    model.opset_import.append(onnx.helper.make_opsetid("com.example", 1))
    onnx.save(model, path)
    with pytest.raises(
        OnnxError,
        match=r"2 of the graph's .* StringNormalizer \(1\), com.example::Own \(2\)",
    ):
        ac.onnx.load(path)


def test_newer_operators_than_the_package_knows_are_refused(path):
    onnx.save(graph_of([node("Relu", "x")], {"x": f(2)}, opset=99), path)
    with pytest.raises(OnnxError, match=r"version 99.* knows them up to .*Update it"):
        ac.onnx.load(path)


def test_everything_that_is_refused_is_in_one_error(path):
    nodes = [
        node("StringNormalizer", "s", "a"),
        node("Cast", "x", "b", to=onnx.TensorProto.FLOAT8E5M2),
        node("Pad", "x p", mode="mirror"),
    ]
    model = graph_of(nodes, {"x": f(2)}, {"p": np.array([1, 1])})
    model.graph.input.append(
        onnx.helper.make_tensor_value_info("s", onnx.TensorProto.STRING, [1])
    )
    onnx.save(model, path)
    with pytest.raises(
        OnnxError,
        match=r"StringNormalizer \(1\).*result of Cast is float8_e5m2.*'s' is string; "
        r"AutoCalc has .*Pad .* has mode='mirror'",
    ):
        ac.onnx.load(path)


def test_sparse_constants_are_refused(path):
    helper = onnx.helper
    values = onnx.numpy_helper.from_array(np.ones(1, "f4"), "c")
    places = onnx.numpy_helper.from_array(np.zeros(1, np.int64), "i")
    sparse = helper.make_sparse_tensor(values, places, [2])
    model = graph_of([node("Add", "x c")], {"x": f(2)})
    model.graph.sparse_initializer.append(sparse)
    onnx.save(model, path)
    with pytest.raises(OnnxError, match=r"sparse constants, which .* dense tensors"):
        ac.onnx.load(path)
    nodes = [node("Constant", "", "c", sparse_value=sparse), node("Add", "x c")]
    onnx.save(graph_of(nodes, {"x": f(2)}), path)
    with pytest.raises(OnnxError, match=r"a constant with sparse_value; .* only dense"):
        ac.onnx.load(path)


def test_constants_that_are_strings_are_refused(path):
    nodes = [node("Constant", "", "c", value_string="a"), node("Add", "x x")]
    onnx.save(graph_of(nodes, {"x": f(2)}), path)
    with pytest.raises(DTypeError, match="'c' is string; AutoCalc has"):
        ac.onnx.load(path)


def test_an_optional_value_that_is_absent(path):
    helper = onnx.helper
    kind = helper.make_tensor_type_proto(1, [2])
    model = graph_of([node("OptionalGetElement", "o")], {}, opset=18)
    model.graph.input.append(
        helper.make_value_info("o", helper.make_optional_type_proto(kind))
    )
    onnx.save(model, path)
    module = ac.onnx.load(path)
    assert module(ac.ones(2)).tolist() == [1, 1]
    with pytest.raises(OnnxError, match=r"none: the optional value is absent"):
        module(None)


def test_files_that_are_none(path):
    with pytest.raises(CheckpointError, match="does not exist"):
        ac.onnx.load(path)
    with pytest.raises(CheckpointError, match="is a folder"):
        ac.onnx.load(path.parent)
    with pytest.raises(DTypeError, match="`f` is 3"):
        ac.onnx.load(3)
    for content in (b"", b"nothing of the kind", bytes(range(256))):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match="not an ONNX file: "):
            ac.onnx.load(path)
    ac.onnx.export(network(), ac.randn(1, 1, 4, 4), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(CheckpointError, match="not an ONNX file: "):
        ac.onnx.load(path)


def test_dtypes_that_there_are_not(path):
    model = graph_of([node("Identity", "x")], {"x": np.zeros(2, np.uint32)})
    onnx.save(model, path)
    with pytest.raises(DTypeError, match="'x' is uint32; AutoCalc has bfloat16, bool"):
        ac.onnx.load(path)


def test_constants_of_other_programs_are_trained_if_they_weigh(path):
    constants = {"w.strange/name": f(3), "scale": np.float32(2), "forward": f(3)}
    nodes = [
        node("Mul", "x w.strange/name", "a"),
        node("Mul", "a scale", "b"),
        node("Add", "b forward"),
    ]
    onnx.save(graph_of(nodes, {"x": f(3)}, constants), path)
    model = ac.onnx.load(path, trainable=True)
    assert {name for name, _ in model.named_parameters()} == {
        "w.strange/name",
        "forward_",
    }
    x = ac.ones(3)
    wanted = constants["w.strange/name"] * 2 + constants["forward"]
    np.testing.assert_allclose(model(x).detach().numpy(), wanted, rtol=1e-6)


def test_without_the_package(monkeypatch, path):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(OnnxError, match=r"pip install autocalc-core\[onnx\]"):
        ac.onnx.load(path)
    with pytest.raises(OnnxError, match=r"pip install autocalc-core\[onnx\]"):
        ac.onnx.export(abs, ac.ones(2), path)
