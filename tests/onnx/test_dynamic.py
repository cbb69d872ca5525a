# SPDX-License-Identifier: MIT
"""A size that is free: what graphs compute of it, and where it cannot be."""

from __future__ import annotations

import pytest
from tests.onnx.both import check

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, OnnxError

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)

FREE = {"x": {0: "n"}}


def shape_of(path):
    (output,) = onnx.load(path).graph.output
    sizes = output.type.tensor_type.shape.dim
    return [d.dim_param or d.dim_value for d in sizes]


CASES = {
    "flat": (lambda x: x.reshape(-1), ["12*n"]),
    "with more rows": (lambda x: ac.cat([x, x[:1], ac.ones(2, 3, 4)]), ["n+3", 3, 4]),
    "without the last": (lambda x: x[:-1], ["n-1", 3, 4]),
    "turned": (lambda x: x.transpose(0, 2) + 1, [4, 3, "n"]),
    "repeated": (lambda x: x[:, None].expand(-1, 5, 3, 4), ["n", 5, 3, 4]),
    "zeros": (lambda x: ac.zeros(x.shape[0], 2) + x[:, 0, :2], ["n", 2]),
    "rows": (lambda x: x.reshape(x.shape[0] * 3, 4) @ ac.ones(4, 2), ["3*n", 2]),
    "sum": (lambda x: x.sum(0), [3, 4]),
    "joined": (lambda x: ac.cat([x, x], 1), ["n", 6, 4]),
}


@pytest.mark.parametrize("name", CASES)
def test_sizes_are_computed(name, tmp_path):
    model, shape = CASES[name]
    path = tmp_path / "m.onnx"

    def named(x):
        return model(x)

    others = [(ac.randn(n, 3, 4),) for n in (2, 3, 11)]
    check(path, named, ac.randn(4, 3, 4), others=others, dynamic_axes=FREE)
    assert shape_of(path) == shape


def test_any_dimension_may_be_free_and_several_inputs_have_it(tmp_path):
    def model(x, y):
        return (x + y.T).softmax(1)

    free = {"x": {1: "length"}, "y": [0]}
    with pytest.raises(ArgumentError, match="one size can be free"):
        ac.onnx.export(
            model,
            (ac.ones(3, 5), ac.ones(5, 3)),
            tmp_path / "m.onnx",
            dynamic_axes=free,
        )
    free = {"x": {-1: "length"}, "y": {0: "length"}, "output": {1: "length"}}
    others = [(ac.randn(3, n), ac.randn(n, 3)) for n in (1, 2, 9)]
    given = ac.randn(3, 5), ac.randn(5, 3)
    check(tmp_path / "m.onnx", model, *given, others=others, dynamic_axes=free)
    assert shape_of(tmp_path / "m.onnx") == [3, "length"]


def test_an_example_of_one_is_enough(tmp_path):
    model = nn.Sequential(nn.Flatten(), nn.Linear(12, 2))
    words = {"dynamic_axes": {"input": [0]}}
    others = [(ac.randn(n, 3, 4),) for n in (2, 5)]
    check(tmp_path / "m.onnx", model, ac.randn(1, 3, 4), others=others, **words)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (lambda x: x.mean(0) * x.shape[0] ** 2, "a constant of shape"),
        (lambda x: x + ac.arange(x.shape[0])[:, None], "a constant of shape"),
        (lambda x: x.abs() if x.shape[0] == 5 else x.neg(), "the operator"),
        (lambda x: sum(x[i] for i in range(x.shape[0])), "operator"),
        (lambda x: ac.zeros(x.shape[0] ** 2), "multiples and sums of"),
        (lambda x: x.unbind(0), "onnx.export: the number of tensors that the"),
    ],
)
def test_what_no_graph_can_say_is_an_error(model, match, tmp_path):
    with pytest.raises(OnnxError, match=match) as caught:
        ac.onnx.export(model, ac.ones(4, 3), tmp_path / "m.onnx", dynamic_axes=FREE)
    assert "without `dynamic_axes`" in str(caught.value).replace("\n", " ")


@pytest.mark.parametrize(
    ("axes", "match"),
    [
        ({"z": [0]}, "the inputs are x and the outputs"),
        ({"x": [2]}, "the dimension 2 of 'x', which has"),
        ({"x": {"a": "n"}}, "the dimension 'a' of 'x'"),
        ({"x": {0: "n", 1: "m"}}, r"names the sizes \['m', 'n'\], which are \[3, 4\]"),
        ({"x": 0}, "`dynamic_axes` has 0 for 'x'"),
        (["x"], "`dynamic_axes` is"),
    ],
)
def test_arguments_are_checked(axes, match, tmp_path):
    with pytest.raises(ArgumentError, match=match):
        ac.onnx.export(lambda x: x, ac.ones(4, 3), tmp_path / "m", dynamic_axes=axes)
