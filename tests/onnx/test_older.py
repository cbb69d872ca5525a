# SPDX-License-Identifier: MIT
"""Operators of older versions, with the attributes that they had then."""

from __future__ import annotations

import numpy as np
import pytest
from tests.onnx.both import by_load, by_runtime
from tests.onnx.test_reading import f, graph_of, i, node

import autocalc as ac

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)

#: (version, operator, outputs, input, constants, attributes)
CASES = [
    (9, "Clip", "y", f(9), [], {"min": -0.5, "max": 0.5}),
    (9, "Dropout", "y", f(9), [], {"ratio": 0.3}),
    (9, "Pad", "y", f(2, 3), [], {"pads": [1, 0, 0, 2], "value": 3.0}),
    (9, "Slice", "y", f(4, 5), [], {"starts": [1, -3], "ends": [3, 9], "axes": [0, 1]}),
    (11, "Split", "y z", f(2, 5), [], {"split": [2, 3], "axis": 1}),
    (11, "Squeeze", "y", f(1, 3, 1), [], {"axes": [0]}),
    (11, "Unsqueeze", "y", f(3), [], {"axes": [0, 2]}),
    (9, "TopK", "y z", f(3, 5), [], {"k": 2}),
    (9, "Upsample", "y", f(1, 2, 3, 3), [np.array([1, 1, 2, 2], "f4")], {}),
    (7, "Upsample", "y", f(1, 1, 2, 2), [], {"scales": [1.0, 1.0, 2.0, 2.0]}),
    (
        10,
        "Resize",
        "y",
        f(1, 1, 3, 4),
        [np.array([1, 1, 1.5, 2], "f4")],
        {"mode": "linear"},
    ),
    (9, "Scatter", "y", f(3, 3), [np.array([[0, 1, 2]]), f(1, 3)], {}),
    (11, "Softmax", "y", f(2, 3, 4), [], {}),
    (11, "LogSoftmax", "y", f(2, 3, 4), [], {"axis": 0}),
    (11, "Hardmax", "y", f(2, 3, 4), [], {"axis": 2}),
    (11, "ReduceSum", "y", f(2, 3), [], {"axes": [1], "keepdims": 0}),
    (7, "BatchNormalization", "y", f(2, 3, 4), [f(3), f(3), f(3), f(3) ** 2], {}),
    (7, "Gemm", "y", f(2, 3), [f(3, 4), f(4)], {"beta": 0.5}),
]


@pytest.mark.parametrize(
    ("opset", "op", "outputs", "x", "constants", "words"),
    CASES,
    ids=[f"{case[1]}-{case[0]}" for case in CASES],
)
def test_operators(opset, op, outputs, x, constants, words, tmp_path):
    names = [f"c{k}" for k in range(len(constants))]
    one = node(op, " ".join(["x", *names]), outputs, **words)
    arrays = dict(zip(names, constants, strict=True))
    path = tmp_path / "m.onnx"
    model = graph_of([one], {"x": x}, arrays, outputs.split(), opset=opset)
    onnx.save(model, path)
    given = (ac.from_numpy(x.copy()),)
    for found, wanted in zip(
        by_load(path, given), by_runtime(path, given), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_version_6_broadcasts_from_an_axis(tmp_path):
    nodes = [
        node("Add", "x row", "a", broadcast=1, axis=1),
        node("PRelu", "a slope", "b"),
        node("Cast", "b", "d", to="DOUBLE"),
        node("Cast", "d", "y", to="float"),
    ]
    arrays = {"row": f(3), "slope": f(3)}
    path = tmp_path / "m.onnx"
    onnx.save(graph_of(nodes, {"x": f(2, 3, 4)}, arrays, opset=6), path)
    x = f(2, 3, 4)
    (found,) = by_load(path, (ac.from_numpy(x.copy()),))
    added = x + arrays["row"][:, None]
    wanted = np.where(added > 0, added, added * arrays["slope"][:, None])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_bodies_of_operators_are_expanded(tmp_path):
    """CenterCropPad and the windows have no reader: ONNX defines them by others."""
    nodes = [
        node("HannWindow", "size", "window"),
        node("CenterCropPad", "x size", "cropped"),
        node("Mul", "cropped window"),
    ]
    path = tmp_path / "m.onnx"
    onnx.save(graph_of(nodes, {"x": f(6)}, {"size": i(4)}), path)
    (found,) = by_load(path, (ac.ones(6),))
    np.testing.assert_allclose(found, [0, 0.5, 1, 0.5], atol=1e-6)
