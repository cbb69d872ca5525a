# SPDX-License-Identifier: MIT
"""Each of ONNX's operators that AutoCalc runs, against ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest
from tests.onnx.both import by_load, by_runtime

import autocalc as ac
from autocalc.errors import OnnxError
from autocalc.onnx._table import READERS

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)

rng = np.random.default_rng(0)


def f(*shape):
    """Return numbers near 1."""
    return rng.normal(size=shape).astype(np.float32)


def i(*numbers):
    return np.array(numbers, np.int64)


def graph_of(nodes, given, constants=(), outputs=("y",), opset=18):
    """Return a model; `given` and `constants` are arrays by name."""
    helper = onnx.helper
    kind = helper.np_dtype_to_tensor_dtype
    inputs = [
        helper.make_tensor_value_info(n, kind(a.dtype), a.shape)
        for n, a in given.items()
    ]
    arrays = [onnx.numpy_helper.from_array(a, n) for n, a in dict(constants).items()]
    ends = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph(nodes, "g", inputs, ends, arrays)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9
    )


def node(op, inputs, outputs="y", **words):
    return onnx.helper.make_node(op, inputs.split(), outputs.split(), **words)


#: (operator, inputs, constants, attributes): the inputs x, y, z and then the constants.
CASES = [
    ("Add", [f(3, 4), f(4)], {}),
    ("And", [f(3) > 0, f(3) > 0], {}),
    (
        "AveragePool",
        [f(1, 2, 6, 6)],
        {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1], "count_include_pad": 1},
    ),
    ("AveragePool", [f(1, 2, 6, 5)], {"kernel_shape": [3, 3], "pads": [1, 0, 0, 1]}),
    ("ArgMax", [f(3, 4)], {"axis": 1, "keepdims": 0}),
    ("ArgMin", [f(3, 4)], {"axis": 1}),
    ("BitwiseXor", [i(3, 5), i(6, 6)], {}),
    ("Cast", [f(3)], {"to": 7}),
    ("Celu", [f(9)], {"alpha": 0.5}),
    ("Clip", [f(9), np.float32(-0.5)], {}),
    (
        "Conv",
        [f(1, 2, 7, 7), f(4, 2, 3, 3), f(4)],
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    ),
    ("Conv", [f(1, 2, 7), f(4, 2, 3)], {"pads": [2, 1]}),
    (
        "ConvTranspose",
        [f(1, 2, 5, 5), f(2, 4, 3, 3)],
        {"strides": [2, 2], "pads": [1, 0, 0, 1]},
    ),
    ("CumSum", [f(3, 4), i(1)[0]], {"reverse": 1}),
    ("DepthToSpace", [f(1, 8, 2, 3)], {"blocksize": 2}),
    ("DepthToSpace", [f(1, 8, 2, 3)], {"blocksize": 2, "mode": "CRD"}),
    ("Div", [i(7, -7, 5), i(2, 2, -3)], {}),
    ("Einsum", [f(2, 3), f(3, 4)], {"equation": "ij,jk->ki"}),
    ("Equal", [i(1, 2), i(1, 3)], {}),
    ("Expand", [f(3, 1), i(2, 1, 4)], {}),
    ("Flatten", [f(2, 3, 4)], {"axis": 2}),
    ("Gather", [f(3, 4), i(1, -1)], {"axis": 1}),
    ("GatherND", [f(3, 4), np.array([[0, 1], [2, -1]])], {}),
    ("Gemm", [f(3, 2), f(3, 4), f(4)], {"alpha": 0.5, "beta": 2.0, "transA": 1}),
    ("Gemm", [f(2, 3), f(3, 4)], {}),
    ("GlobalMaxPool", [f(2, 3, 4, 4)], {}),
    ("GreaterOrEqual", [f(3), f(3)], {}),
    ("GroupNormalization", [f(2, 6, 4), f(2), f(2)], {"num_groups": 2}),
    ("HardSigmoid", [f(9) * 3], {}),
    ("InstanceNormalization", [f(2, 3, 5), f(3), f(3)], {}),
    ("IsInf", [np.array([1, np.inf, -np.inf], np.float32)], {}),
    ("LayerNormalization", [f(2, 3, 4), f(3, 4)], {"axis": 1}),
    ("LogSoftmax", [f(3, 4)], {"axis": 0}),
    ("Max", [f(3), f(3), f(2, 3)], {}),
    (
        "MaxPool",
        [f(1, 2, 6, 6)],
        {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER", "strides": [2, 2]},
    ),
    ("Min", [f(3), f(3)], {}),
    ("Mod", [i(7, -7), i(3, 3)], {}),
    ("Mod", [f(3), f(3)], {"fmod": 1}),
    ("Not", [f(3) > 0], {}),
    ("OneHot", [i(0, 2, -1), i(4)[0], f(2)], {}),
    ("OneHot", [i(0, 2, -1), i(4)[0], i(2, 7)], {}),
    ("OneHot", [i(0, 9, -5), i(4)[0], f(2)], {"axis": 0}),
    ("OneHot", [np.array([[1, 2]], np.int32), np.int32(4), f(2)], {"axis": 1}),
    ("Pad", [f(2, 3), i(0, 1, 2, 0), np.float32(7)], {}),
    ("Pad", [f(1, 2, 5), i(2, 2), np.float32(0), i(2)], {"mode": "reflect"}),
    ("Pad", [f(1, 2, 5), i(0, 0, 2, 0, 0, 1)], {"mode": "edge"}),
    ("Pow", [f(3), i(2)], {}),
    ("PRelu", [f(2, 3), f(3)], {}),
    ("Range", [i(2)[0], i(11)[0], i(3)[0]], {}),
    *(
        ("Range", list(np.array([2, 11, 3], dtype)), {})
        for dtype in ("int32", "float32", "float64")
    ),
    ("ReduceL1", [f(3, 4), i(1)], {}),
    ("ReduceL2", [f(3, 4), i(0, 1)], {"keepdims": 0}),
    ("ReduceLogSumExp", [f(3, 4)], {}),
    ("ReduceProd", [f(3, 4), i(-1, 0)], {"keepdims": 0}),
    ("ReduceSum", [f(3, 4)], {"noop_with_empty_axes": 1}),
    ("ReduceSumSquare", [f(3, 4), i(1)], {}),
    ("Reshape", [f(2, 3, 4), i(0, -1)], {}),
    (
        "Resize",
        [f(1, 2, 3, 4), np.zeros(0, "f4"), np.array([1, 1, 2, 2], "f4")],
        {
            "mode": "nearest",
            "coordinate_transformation_mode": "asymmetric",
            "nearest_mode": "floor",
        },
    ),
    (
        "Resize",
        [f(1, 2, 3, 4), np.zeros(0, "f4"), np.zeros(0, "f4"), i(1, 2, 6, 8)],
        {"mode": "linear"},
    ),
    (
        "Resize",
        [f(1, 2, 3, 4), np.zeros(0, "f4"), np.zeros(0, "f4"), i(1, 2, 6, 7)],
        {"mode": "linear", "coordinate_transformation_mode": "align_corners"},
    ),
    *(
        (
            "Resize",
            [f(1, 2, *n), np.zeros(0, "f4"), np.array([1, 1, *scales], "f4")],
            {"mode": mode, "coordinate_transformation_mode": how, **more},
        )
        for n, scales in (
            ((3, 4), (1.5, 1.5)),
            ((5, 10), (2.3, 1.3)),
            ((7, 5), (0.6, 0.3)),
            ((4, 1), (0.25, 3)),
        )
        for mode, how, more in (
            ("linear", "half_pixel", {}),
            ("linear", "pytorch_half_pixel", {"cubic_coeff_a": -0.75}),
            ("linear", "align_corners", {}),
            ("nearest", "asymmetric", {"nearest_mode": "floor"}),
        )
    ),
    ("Round", [np.array([0.5, 1.5, -2.5], "f4")], {}),
    ("ScatterElements", [f(3, 3), np.array([[0, -1, 2]]), f(1, 3)], {"axis": 0}),
    (
        "ScatterElements",
        [f(3, 3), np.array([[1, 1, 2]]), f(1, 3)],
        {"axis": 1, "reduction": "add"},
    ),
    ("ScatterND", [f(4, 3), np.array([[0], [2]]), f(2, 3)], {}),
    ("Selu", [f(9)], {}),
    ("Slice", [f(5, 6), i(4, -3), i(-9, 9), i(0, 1), i(-2, 1)], {}),
    ("Softplus", [f(9)], {}),
    ("Softsign", [f(9)], {}),
    ("SpaceToDepth", [f(1, 2, 4, 6)], {"blocksize": 2}),
    ("Split", [f(2, 5), i(2, 3)], {"axis": 1}),
    ("Squeeze", [f(1, 3, 1)], {}),
    ("Squeeze", [f(1, 3, 1), i(-1)], {}),
    ("Sum", [f(3), f(3), f(3)], {}),
    ("Tile", [f(2, 3), i(2, 1)], {}),
    ("TopK", [f(3, 5), i(2)], {"axis": 1, "largest": 0}),
    ("Transpose", [f(2, 3, 4)], {}),
    ("Trilu", [f(4, 4), i(1)[0]], {"upper": 0}),
    ("CumSum", [f(3, 4), i(1)], {"exclusive": 1, "reverse": 1}),
    ("ConvTranspose", [f(1, 2, 3), f(2, 2, 3)], {"output_shape": [4]}),
    (
        "ConvTranspose",
        [f(1, 2, 3, 4), f(2, 2, 3, 3), f(2)],
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
    ),
    ("GRU", [f(4, 2, 3), f(1, 6, 3), f(1, 6, 2)], {"hidden_size": 2}),
    (
        "GRU",
        [
            f(4, 2, 3),
            f(2, 6, 3),
            f(2, 6, 2),
            f(2, 12),
            np.array([3, 4], "i4"),
            f(2, 2, 2),
        ],
        {"hidden_size": 2, "direction": "bidirectional", "linear_before_reset": 1},
    ),
    ("LSTM", [f(4, 2, 3), f(1, 8, 3), f(1, 8, 2)], {"hidden_size": 2, "clip": 0.3}),
    (
        "LSTM",
        [
            f(4, 2, 3),
            f(1, 8, 3),
            f(1, 8, 2),
            f(1, 16),
            np.array([2, 4], "i4"),
            f(1, 2, 2),
            f(1, 2, 2),
            f(1, 6),
        ],
        {"hidden_size": 2, "direction": "reverse"},
    ),
    (
        "LSTM",
        [f(4, 2, 3), f(1, 8, 3), f(1, 8, 2)],
        {
            "hidden_size": 2,
            "activations": ["HardSigmoid", "Affine", "Softsign"],
            "activation_alpha": [0.3, 0.7],
            "activation_beta": [0.4, 0.1],
        },
    ),
    (
        "RNN",
        [f(4, 2, 3), f(1, 2, 3), f(1, 2, 2)],
        {"hidden_size": 2, "activations": ["Sigmoid"]},
    ),
    *(
        (
            "Resize",
            [f(1, 2, 5, 6), np.zeros(0, "f4"), np.zeros(0, "f4"), i(1, 2, 8, 4)],
            {"mode": mode, "coordinate_transformation_mode": how, **more},
        )
        for mode, how, more in (
            ("nearest", "half_pixel", {}),
            ("nearest", "align_corners", {"nearest_mode": "ceil"}),
            ("nearest", "asymmetric", {"nearest_mode": "round_prefer_ceil"}),
            ("cubic", "half_pixel", {}),
            ("cubic", "align_corners", {"cubic_coeff_a": -0.5}),
            ("cubic", "asymmetric", {"exclude_outside": 1}),
            ("linear", "asymmetric", {}),
            ("linear", "half_pixel", {"antialias": 1}),
        )
    ),
    ("Pad", [f(2, 2, 3), i(1, 1, 2, 1, 1, 0)], {"mode": "reflect"}),
    ("Pad", [f(2, 3), i(0, 2, 1, 4)], {"mode": "wrap"}),
    ("Dropout", [f(2), np.float32(0.0), np.array(True)], {}),
    (
        "AveragePool",
        [f(1, 2, 7, 6)],
        {
            "kernel_shape": [3, 2],
            "strides": [2, 2],
            "ceil_mode": 1,
            "pads": [1, 0, 0, 1],
        },
    ),
    ("LpPool", [f(1, 2, 6, 6)], {"kernel_shape": [3, 3], "p": 3}),
    (
        "MaxPool",
        [f(1, 2, 7, 7)],
        {
            "kernel_shape": [3, 3],
            "strides": [2, 2],
            "ceil_mode": 1,
            "dilations": [2, 2],
        },
    ),
    ("LRN", [f(1, 5, 3, 3)], {"size": 3, "alpha": 0.5}),
    ("Hardmax", [f(3, 4)], {"axis": 0}),
    ("LpNormalization", [f(3, 4)], {"axis": 0, "p": 1}),
    ("Compress", [f(3, 4), np.array([True, False, True])], {"axis": 1}),
    ("NonZero", [np.array([[1, 0], [2, 3]], "f4")], {}),
    ("ReverseSequence", [f(4, 3), i(1, 4, 2)], {}),
    ("EyeLike", [f(3, 4)], {"k": 1}),
    ("ScatterND", [f(4, 3), np.array([[0], [0]]), f(2, 3)], {"reduction": "mul"}),
    ("GatherND", [f(2, 3, 4), np.array([[1], [0]])], {"batch_dims": 1}),
    ("GridSample", [f(1, 2, 4, 5), f(1, 3, 3, 2)], {"padding_mode": "reflection"}),
    (
        "RoiAlign",
        [f(2, 2, 6, 6), np.array([[0, 0, 4, 5], [1, 1, 3, 2]], "f4"), i(1, 0)],
        {"output_height": 2, "output_width": 3, "sampling_ratio": 0},
    ),
    (
        "MaxRoiPool",
        [f(2, 2, 6, 6), np.array([[0, 0, 0, 4, 5], [1, 1, 1, 3, 2]], "f4")],
        {"pooled_shape": [2, 2]},
    ),
    (
        "MatMulInteger",
        [np.arange(6, dtype="u1").reshape(2, 3), i(1, 2, 3).astype("u1")],
        {},
    ),
    (
        "QuantizeLinear",
        [f(2, 3) * 50, np.array([0.5, 1, 2], "f4"), np.array([1, 2, 3], "i1")],
        {"axis": 1},
    ),
    ("DequantizeLinear", [i(3, 200).astype("u1"), np.float32(0.1), np.uint8(7)], {}),
    (
        "QLinearMatMul",
        [
            np.arange(6, dtype="u1").reshape(2, 3),
            np.float32(0.1),
            np.uint8(2),
            np.arange(6, dtype="u1").reshape(3, 2),
            np.float32(0.2),
            np.uint8(3),
            np.float32(0.05),
            np.uint8(9),
        ],
        {},
    ),
    ("BitShift", [i(3, 5).astype("u1"), i(1, 2).astype("u1")], {"direction": "LEFT"}),
    ("Det", [f(2, 3, 3)], {}),
    ("Shrink", [f(9)], {"lambd": 0.3, "bias": 0.1}),
    ("IsInf", [np.array([1, np.inf, -np.inf], "f4")], {"detect_negative": 0}),
    ("ArgMax", [f(3, 4).round()], {"axis": 1, "select_last_index": 1}),
    ("DFT", [f(2, 4, 1)], {}),
    ("DFT", [f(2, 6, 2), np.array(4)], {"axis": 1, "inverse": 1}),
    ("Trilu", [f(3, 4)], {}),
    ("Unsqueeze", [f(3), i(0, -1)], {}),
    ("Where", [f(3) > 0, f(3), f(3)], {}),
    ("Xor", [f(3) > 0, f(3) > 0], {}),
]


@pytest.mark.parametrize(
    ("op", "inputs", "words"), CASES, ids=[f"{k}-{c[0]}" for k, c in enumerate(CASES)]
)
def test_operators(op, inputs, words, tmp_path):
    names = [f"x{k}" for k in range(len(inputs))]
    arrays = dict(zip(names, map(np.asarray, inputs), strict=True))
    numbers = READERS[op].numbers
    constants = {n: a for k, (n, a) in enumerate(arrays.items()) if k in numbers}
    given = {n: a for n, a in arrays.items() if n not in constants}
    outputs = ["y", "z"][: 2 if op in {"Split", "TopK"} else 1]
    one = onnx.helper.make_node(op, names, outputs, **words)
    path = tmp_path / "m.onnx"
    onnx.save(graph_of([one], given, constants, outputs), path)
    tensors = tuple(ac.from_numpy(np.array(a)) for a in given.values())
    for found, wanted in zip(
        by_load(path, tensors), by_runtime(path, tensors), strict=True
    ):
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_sizes_are_computed_by_the_host_and_compiled(tmp_path):
    """As PyTorch's exporter writes ``x.view(x.size(0), -1)``."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape zero", "first", axis=0),
        node("Unsqueeze", "first axes", "line"),
        node("Concat", "line rest", "wanted", axis=0),
        node("Reshape", "x wanted"),
    ]
    constants = {"zero": np.array(0), "axes": i(0), "rest": i(-1)}
    path = tmp_path / "m.onnx"
    onnx.save(graph_of(nodes, {"x": f(2, 3, 4)}, constants), path)
    model = ac.onnx.load(path)
    compiled = ac.compile(lambda x: model(x) + 0)
    for _ in range(4):
        x = ac.randn(2, 3, 4)
        assert ac.equal(compiled(x), x.reshape(2, 12))
    assert len(compiled.programs) == 1


def test_constants_shapes_of_constants_and_functions(tmp_path):
    helper = onnx.helper
    value = onnx.numpy_helper.from_array(np.array([7.0], np.float32))
    nodes = [
        node("Constant", "", "a", value_floats=[1.0, 2.0]),
        node("Constant", "", "b", value_int=3),
        node("Constant", "", "sizes", value_ints=[2, 2]),
        node("ConstantOfShape", "sizes", "filled", value=value),
        helper.make_node("Twice", ["x"], ["twice"], domain="own"),
        node("Add", "twice a", "s"),
        node("Cast", "b", "c", to=1),
        node("Mul", "s c", "t"),
        node("Add", "t filled"),
    ]
    model = graph_of(nodes, {"x": f(2, 2)})
    body = [helper.make_node("Add", ["v", "v"], ["w"])]
    opsets = [helper.make_opsetid("", 18)]
    model.functions.append(
        helper.make_function("own", "Twice", ["v"], ["w"], body, opsets)
    )
    model.opset_import.append(helper.make_opsetid("own", 1))
    onnx.save(model, tmp_path / "m.onnx")
    x = ac.randn(2, 2)
    (found,) = by_load(tmp_path / "m.onnx", (x,))
    wanted = (2 * x.numpy() + np.array([1, 2], "f4")) * 3 + 7
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


REFUSED = [
    (
        "RNN",
        [f(2, 1, 3), f(1, 2, 3), f(1, 2, 2)],
        {"hidden_size": 2, "activations": ["Gelu"]},
        "activations='Gelu'; AutoCalc supports it only with 'affine', 'elu'",
    ),
    (
        "Resize",
        [f(1, 1, 2)],
        {"mode": "sinc"},
        "mode='sinc'; AutoCalc supports it only",
    ),
    ("Resize", [f(1, 1, 2)], {"mode": "linear"}, "one of them must have 3 numbers"),
    ("Pad", [f(2), i(1, 1)], {"mode": "mirror"}, "only with 'constant', 'reflect'"),
    ("Conv", [f(1, 1, 2), f(1, 1, 1)], {"auto_pad": "SOME"}, "auto_pad='SOME'"),
    ("LpNormalization", [f(3)], {"p": 3}, "p=3; AutoCalc supports it only with 2, 1"),
    ("Add", [f(3)], {}, r"has 1 inputs; it needs 2 to 2"),
    ("Relu", [f(3)], {"wide": 1}, "has the attributes wide, which AutoCalc does not"),
    ("OptionalGetElement", [f(1)], {}, "has the outputs z; the operator has only 1"),
]


@pytest.mark.parametrize(("op", "inputs", "words", "match"), REFUSED)
def test_attributes_that_are_not_run(op, inputs, words, match, tmp_path):
    names = [f"x{k}" for k in range(len(inputs))]
    given = dict(zip(names, map(np.asarray, inputs), strict=True))
    outputs = ["y", "z"] if "outputs z" in match else ["y"]
    one = onnx.helper.make_node(op, names, outputs, name="it", **words)
    path = tmp_path / "m.onnx"
    onnx.save(graph_of([one], {"x": f(1)}, given), path)
    with pytest.raises(OnnxError, match=rf"{op} \(it\).*{match}"):
        ac.onnx.load(path)(ac.ones(1))
