# SPDX-License-Identifier: MIT
"""``autocalc onnx``."""

from __future__ import annotations

import sys

import pytest

import autocalc as ac
from autocalc import nn

pytest.importorskip("onnx", reason="the extra autocalc-core[onnx] is not installed")


@pytest.fixture
def file(tmp_path):
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
    path = tmp_path / "model.onnx"
    ac.onnx.export(model, ac.randn(2, 1, 4, 4), path, dynamic_axes={"input": {0: "n"}})
    return path


def test_operators_are_counted(run, file):
    out = run("onnx", file).output
    assert "input input: autocalc.float32 (n, 1, 4, 4)" in out
    assert any(line.split() == ["Conv", "1"] for line in out.splitlines())


def test_a_graph_is_run_and_timed(run, file):
    out = run("onnx", file, "--run", "--size", "n=5").output
    assert any(
        line.split() == ["Gemm", "1", "kernels", "(5,", "3)"]
        for line in out.splitlines()
    )
    assert "share" not in out
    out = run("onnx", file, "--time").output
    assert "share" in out
    assert "eager: " in out
    assert "compiled: " in out


def test_results_are_compared(run, file):
    pytest.importorskip("onnxruntime")
    out = run("onnx", file, "--compare", "onnxruntime").output
    assert "onnxruntime: " in out
    assert "output output: the largest difference is " in out


@pytest.mark.parametrize(
    ("words", "code", "match"),
    [
        (["--size", "n"], 2, "'n' is not a size; write NAME=NUMBER"),
        (["--run", "--size", "m=2"], 1, "there is no open size m; the graph has n."),
    ],
)
def test_sizes_are_checked(run, file, words, code, match):
    assert match in run("onnx", file, *words, code=code).output


def test_sequences_are_not_run(run, tmp_path):
    from onnx import helper, save

    tensor = helper.make_tensor_type_proto(1, [2])
    info = helper.make_value_info("s", helper.make_sequence_type_proto(tensor))
    length = helper.make_tensor_value_info("n", 7, [])
    node = helper.make_node("SequenceLength", ["s"], ["n"])
    graph = helper.make_graph([node], "g", [info], [length])
    opset = helper.make_opsetid("", 18)
    save(helper.make_model(graph, opset_imports=[opset]), tmp_path / "s.onnx")
    out = run("onnx", "s.onnx", "--run", code=1).output
    assert "the input `s` is a sequence" in out


def test_what_is_not_there(run, file, monkeypatch):
    assert "does not exist" in run("onnx", "none.onnx", code=1).output
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    out = run("onnx", file, "--compare", "onnxruntime", code=1).output
    assert "onnxruntime cannot be imported" in out
