# SPDX-License-Identifier: MIT
"""Whole models as ONNX files: equal answers from three programs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from benchmarks.zoo.rows import ZOO
from tests.onnx.both import (
    assert_close,
    by_load,
    by_reference,
    by_runtime,
    check,
    expected,
)

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, OnnxError
from autocalc.nn import functional as F

onnx = pytest.importorskip(
    "onnx", reason="the extra autocalc-core[onnx] is not installed"
)


class Recurrent(nn.Module):
    """Two layers in both directions, and a head."""

    def __init__(self, kind):
        super().__init__()
        self.layers = getattr(nn, kind)(6, 5, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(10, 3)

    def forward(self, x):
        return self.head(self.layers(x)[0])


class Translator(nn.Module):
    """An encoder and a decoder with a mask."""

    def __init__(self):
        super().__init__()
        self.both = nn.Transformer(16, 4, 1, 1, 32, batch_first=True)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        return self.both(source, target, tgt_mask=mask)


def tokens(*shape):
    return ac.randint(0, 50, shape)


def mlp():
    return nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))


def encoder():
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def decoder(**words):
    return lambda: ac.models.Decoder(50, 16, 32, 4, 2, **words)


OTHERS = {"positions": "rotary", "norm": "rms", "activation": "swiglu", "kv_heads": 2}

#: By name: the model, and its inputs for a batch of n.
MODELS = {
    "MLP": (mlp, lambda n: (ac.randn(n, 8),)),
    "LeNet": (ac.models.LeNet, lambda n: (ac.randn(n, 1, 28, 28),)),
    "ResNet": (ac.models.ResNet, lambda n: (ac.randn(n, 1, 28, 28),)),
    "ResNet-18": (ac.models.ResNet18, lambda n: (ac.randn(n, 3, 16, 16),)),
    "LSTM": (lambda: Recurrent("LSTM"), lambda n: (ac.randn(n, 7, 6),)),
    "GRU": (lambda: Recurrent("GRU"), lambda n: (ac.randn(n, 7, 6),)),
    "RNN": (lambda: Recurrent("RNN"), lambda n: (ac.randn(n, 7, 6),)),
    "TextLSTM": (lambda: ac.models.TextLSTM(50, 16), lambda n: (tokens(n, 12),)),
    "encoder": (encoder, lambda n: (ac.randn(n, 5, 16),)),
    "translator": (Translator, lambda n: (ac.randn(n, 5, 16), ac.randn(n, 4, 16))),
    "GPT": (decoder(), lambda n: (tokens(n, 12),)),
    "GPT with rotary positions": (decoder(**OTHERS), lambda n: (tokens(n, 12),)),
    "ViT": (
        lambda: ac.models.VisionTransformer(d_model=32, layers=2),
        lambda n: (ac.randn(n, 1, 28, 28),),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_equal_with_a_batch_of_any_size(name, tmp_path):
    make, inputs = MODELS[name]
    names = [f"in_{i}" for i in range(len(inputs(1)))]
    free = {name: {0: "batch"} for name in names}
    others = [inputs(n) for n in (1, 7)]
    words = {"input_names": names, "dynamic_axes": free}
    check(tmp_path / "m.onnx", make(), *inputs(2), others=others, **words)


#: Inference of the benchmarks' zoo, at its own sizes; others in place of training.
LARGE = ("224", "1x128", "d 768", "R3D")
ZOO_ROWS = [key for key in ZOO if "inference" in key]
ZOO_ROWS = [key for key in ZOO_ROWS if not any(word in key for word in LARGE)]
ZOO_ROWS += ["TCN d 64, 8x256, step", "MLP-mixer d 128, 8 of 32x32, step"]
ZOO_ROWS += ["scan d 128, 4x256 tokens, step", "DLRM, batch 256, step"]


@pytest.mark.parametrize("key", ZOO_ROWS)
def test_the_zoo(key, tmp_path):
    work = ZOO[key].make(ac, lambda x: x)
    check(tmp_path / "m.onnx", work.model, *work.inputs)


@pytest.mark.parametrize("name", ["MLP", "LeNet", "GRU", "encoder"])
def test_the_reference_evaluator_agrees(name, tmp_path):
    make, inputs = MODELS[name]
    check(tmp_path / "m.onnx", make(), *inputs(2), runs=(by_reference,))


def test_the_file_has_names_shapes_and_checked_nodes(tmp_path):
    path = tmp_path / "m.onnx"
    words = {"dynamic_axes": {"input": {0: "batch"}}, "output_names": ["logits"]}
    ac.onnx.export(mlp(), ac.randn(2, 8), path, **words)
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    graph = model.graph
    assert [one.name for one in graph.input] == ["input"]
    assert [one.name for one in graph.output] == ["logits"]
    sizes = graph.output[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in sizes] == ["batch", 3]
    named = {one.name for one in graph.initializer}
    assert {"0.weight", "0.bias", "2.weight", "2.bias"} <= named
    assert model.producer_name == "autocalc"
    assert [node.op_type for node in graph.node].count("Gemm") == 2


def test_a_norm_stays_a_norm(tmp_path):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    ac.onnx.export(model, ac.randn(1, 3, 9, 9), tmp_path / "m.onnx")
    found = [node.op_type for node in onnx.load(tmp_path / "m.onnx").graph.node]
    assert found[:3] == ["Conv", "BatchNormalization", "Relu"]


def test_the_model_is_as_it_was(tmp_path):
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    model[1].eval()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    x = ac.randn(5, 4, requires_grad=True)
    ac.onnx.export(model, x, tmp_path / "m.onnx")
    assert [m.training for m in model.modules()] == [True, True, False, True]
    assert all(ac.equal(v, before[k]) for k, v in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert ac.is_grad_enabled()
    assert_close(by_load(tmp_path / "m.onnx", (x,)), expected(model, x))


def test_a_tensor_given_twice_is_two_inputs_and_none_is_written(tmp_path):
    def model(x, y):
        return x.mul_(2) - y

    x, path = ac.ones(3), tmp_path / "m.onnx"
    ac.onnx.export(model, (x, x), path)
    assert x.tolist() == [1, 1, 1]
    loaded = ac.onnx.load(path)
    assert loaded(ac.full((3,), 5.0), ac.ones(3)).tolist() == [9, 9, 9]


def test_a_compiled_module_is_exported_as_what_it_was_made_of(tmp_path):
    model = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
    ac.onnx.export(ac.compile(model), ac.ones(1, 3), tmp_path / "m.onnx")
    loaded = ac.onnx.load(tmp_path / "m.onnx")
    assert ac.equal(loaded.state_dict()["0.weight"], model[0].weight)


@pytest.mark.parametrize("dtype", [ac.float16, ac.float64])
def test_other_precisions(dtype, tmp_path):
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(dtype)
    x, path = ac.randn(3, 4).to(dtype), tmp_path / "m.onnx"
    ac.onnx.export(model, x, path)
    for run in (by_runtime, by_load):
        assert_close(run(path, (x,)), expected(model, x), 2e-3)


class Under(nn.Module):
    """A model in a context of autocast."""

    def __init__(self, inner, dtype):
        super().__init__()
        self.inner, self.dtype = inner, dtype

    def forward(self, x):
        with ac.autocast("cpu", dtype=self.dtype):
            return self.inner(x)


def images():
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2), nn.AvgPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(4, 2))


IN_HALVES = {
    "images": (images, (2, 3, 8, 8)),
    "block": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        (2, 5, 8),
    ),
    "lstm": (lambda: nn.LSTM(4, 8, batch_first=True), (2, 5, 4)),
    "gru": (lambda: nn.GRU(4, 8), (2, 5, 4)),
}


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("dtype", [ac.bfloat16, ac.float16], ids=str)
@pytest.mark.parametrize("name", IN_HALVES)
def test_models_in_halves(name, dtype, autocast, tmp_path):
    """ONNX Runtime computes in float16 on a CPU, and not in bfloat16."""
    make, shape = IN_HALVES[name]
    model, x, path = make(), ac.randn(*shape), tmp_path / "m.onnx"
    if autocast:
        model = Under(model, dtype)
    else:
        model, x = model.to(dtype), x.to(dtype)
    model.eval()
    ac.onnx.export(model, x, path)
    wanted = [a.astype(np.float32) for a in expected(model, x)]
    runs = [by_reference, by_load] if dtype is ac.bfloat16 else [by_runtime, by_load]
    for run in runs:
        found = [a.astype(np.float32) for a in run(path, (x,))]
        assert_close(found, wanted, 8 * ac.finfo(dtype).eps)
    loaded = ac.onnx.load(path).state_dict()
    kept = {x.dtype for x in loaded.values() if x.is_floating_point()}
    assert kept == {ac.float32 if autocast else dtype}


def several(x, pair, scale=1.0, *, shift):
    a, b = pair
    return {"sum": (x + a) * scale, "both": [b - x, shift.sum()]}


def test_functions_nesting_keywords_and_plain_arguments(tmp_path):
    path, x = tmp_path / "m.onnx", ac.randn(2, 3)
    args = (x, (x + 1, x * 2), 3.0)
    ac.onnx.export(several, args, path, kwargs={"shift": x - 1})
    loaded = ac.onnx.load(path)
    assert loaded.input_names == ["x", "pair_0", "pair_1", "shift"]
    assert loaded.output_names == ["output_0", "output_1", "output_2"]
    wanted = expected(lambda: several(*args, shift=x - 1))
    assert_close(by_runtime(path, (x, x + 1, x * 2, x - 1)), wanted)


def _part(x):
    y = x * 2
    y[1:, 2:4] = x[:-1, :2]
    y[:, -1] += 5
    return y


def _constant_written(x):
    """Write into a tensor that Python filled, after it was read."""
    numbers = ac.tensor([1.0, 2.0, 3.0])
    total = numbers + x[0, :3]
    numbers[1] = x[0, 0]
    return total + numbers


def _masked_in_place(x):
    weights = ac.ones(4, 4).tril() @ x
    weights[weights > 1] = 0.5
    return weights


OPERATORS = {
    "a constant written": _constant_written,
    "masked in place": _masked_in_place,
    "diagonal filled": lambda x: x.clone().fill_diagonal_(2.0),
    "strided": lambda x: x.relu().as_strided((3, 2), (1, 7)),
    "steps": lambda x: ac.stack([(x * i).tanh() for i in range(3)], 1),
    "slices": lambda x: ac.cat([x[:, 1:], x[:, :1], x[:, ::2]], 1),
    "in place": lambda x: x.clone().add_(1)[:, 0].mul_(3),
    "a part written": _part,
    "padding": lambda x: F.pad(x, (1, 2, 0, 1), value=4.0),
    "stack and flip": lambda x: ac.stack([x, x.flip(1)], 1).roll(1, 2),
    "windows": lambda x: x.unfold(1, 3, 1).sum(2),
    "mask": lambda x: ac.where(x > 0, x, x.abs() * 2).masked_fill(x > 1, -1.0),
    "sorted": lambda x: x.sort(1)[0] + x.topk(4, 1)[0].sum(),
    "argmax": lambda x: (x.argmax(1), x.max(1)[0], x.cumsum(1)),
    "statistics": lambda x: (x.var(1), x.std(), x.logsumexp(1), x.norm(dim=1)),
    "einsum": lambda x: ac.einsum("ij,kj->ik", x, x),
    "indices": lambda x: x[ac.tensor([0, 2, 1]), ac.tensor([1, -1, 0])],
    "rows": lambda x: x[:, ac.tensor([3, 1])],
    "dtypes": lambda x: (x.double() * 2, (x * 3).int() // 2, x.long() % 3, ~(x > 0)),
    "activations": lambda x: F.softplus(F.selu(F.celu(F.elu(x), 0.5))) + F.mish(x),
    "diagonal": lambda x: ac.tril(x[:, :4] @ x[:, :4].T).diagonal(),
    "norms": lambda x: F.group_norm(x.reshape(2, 2, 6), 2) + F.normalize(x).sum(),
    "same": lambda x: (x, x, x.t()),
    "constant": lambda x: (ac.arange(3.0), x * ac.pi),
    "images": lambda x: F.interpolate(x.reshape(1, 2, 3, 4), scale_factor=2.0),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name, tmp_path):
    check(tmp_path / "m.onnx", OPERATORS[name], ac.randn(4, 6))


IMAGES = {
    "transposed": lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2),
    "dilated": lambda: nn.Conv2d(4, 6, 3, 2, 2, 2, groups=2, padding_mode="zeros"),
    "means": lambda: nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
    "boxes": lambda: nn.AdaptiveAvgPool2d((3, 2)),
    "largest boxes": lambda: nn.AdaptiveMaxPool2d((2, 2)),
    "reflection": lambda: nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(4, 2, 3)),
    "instances": lambda: nn.InstanceNorm2d(4, affine=True),
    "groups": lambda: nn.GroupNorm(2, 4),
    "shuffle": lambda: nn.PixelShuffle(2),
    "bilinear": lambda: nn.Upsample(scale_factor=2, mode="bilinear"),
    "channels last": lambda: nn.Sequential(nn.Conv2d(4, 5, 3), nn.MaxPool2d(2)).to(
        memory_format=ac.channels_last
    ),
}


@pytest.mark.parametrize("name", IMAGES)
def test_layers_of_images(name, tmp_path):
    x = ac.randn(2, 4, 8, 8)
    x = x.to(memory_format=ac.channels_last) if name == "channels last" else x
    check(tmp_path / "m.onnx", IMAGES[name](), x)


def test_tied_parameters_are_stored_once(tmp_path):
    model = ac.models.TextLSTM(50, 16)
    ac.onnx.export(model, tokens(1, 4), tmp_path / "m.onnx")
    arrays = [one.name for one in onnx.load(tmp_path / "m.onnx").graph.initializer]
    assert {name for name, _ in model.named_parameters()} <= set(arrays)
    assert len(set(model.state_dict()) & set(arrays)) == len(list(model.parameters()))


# ---- errors ------------------------------------------------------------------------


def test_all_missing_kernels_are_listed(tmp_path):
    def model(x):
        return ac.special.erfcx(x) + ac.linalg.inv(x) + ac.special.erfcx(x)

    with pytest.raises(
        OnnxError,
        match=r"no nodes for 2 of the (.|\n)*erfcx, at .*test_export(.|\n)*inv, at",
    ):
        ac.onnx.export(model, ac.eye(3), tmp_path / "m.onnx")
    assert not (tmp_path / "m.onnx").exists()


def test_random_numbers_are_missing(tmp_path):
    with pytest.raises(OnnxError, match=r"random_bits, at .*test_export.py"):
        ac.onnx.export(lambda x: x + ac.randn_like(x), ac.ones(3), tmp_path / "m.onnx")


def test_reading_a_value_is_an_error(tmp_path):
    def model(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(
        OnnxError,
        match=r"reads the value of a tensor while the model is recorded(.|\n)*ac.where",
    ):
        ac.onnx.export(model, ac.ones(3), tmp_path / "m.onnx")


def test_changing_a_buffer_is_an_error(tmp_path):
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", ac.zeros(3))

        def forward(self, x):
            return x + self.count.add_(1)

    with pytest.raises(OnnxError, match="writes to a parameter, a buffer"):
        ac.onnx.export(Counter(), ac.ones(3), tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda f, p: ac.onnx.export(3, f, p), DTypeError, "`model` is 3"),
        (lambda f, p: ac.onnx.export(abs, 3, p), DTypeError, ", which contains no"),
        (lambda f, p: ac.onnx.export(abs, f, 3), DTypeError, "`f` is 3"),
        (lambda f, p: ac.onnx.export(lambda x: 3, f, p), ArgumentError, "also a int"),
        (lambda f, p: ac.onnx.export(lambda x: None, f, p), ArgumentError, "no tensor"),
        (
            lambda f, p: ac.onnx.export(abs, f, p, input_names=["a", "b"]),
            ArgumentError,
            "must be 1 different names",
        ),
        (
            lambda f, p: ac.onnx.export(abs, f, p, output_names="y"),
            ArgumentError,
            "`output_names` is 'y'",
        ),
        (
            lambda f, p: ac.onnx.export(
                abs, f, p, input_names=["y"], output_names=["y"]
            ),
            ArgumentError,
            "y is the name of an input and of an output",
        ),
        (
            lambda f, p: ac.onnx.export(abs, f, p / "none" / "m.onnx"),
            ArgumentError,
            "cannot be written",
        ),
    ],
)
def test_arguments_are_checked(call, error, match, tmp_path):
    with pytest.raises(error, match=match):
        call(ac.ones(2), tmp_path)


def windows():
    """Yield windows, the last of which ends within the padding or beyond it."""
    for n, kernel, stride in product((4, 5, 7), (1, 2, 3), (2, 3, 4)):
        for padding, dilation in product(range(kernel // 2 + 1), (1, 2)):
            if n + 2 * padding > (kernel - 1) * dilation:
                yield n, (kernel, stride, padding), dilation


@pytest.mark.parametrize("kind", ["max", "mean", "mean without padding"])
def test_pools_that_round_up(kind, tmp_path):
    for n, window, dilation in windows():
        if kind == "max":
            model = nn.MaxPool2d(*window, dilation, ceil_mode=True)
        elif dilation == 1:
            model = nn.AvgPool2d(*window, True, count_include_pad=kind == "mean")
        else:
            continue
        check(tmp_path / "m.onnx", model, ac.randn(1, 2, n, n + 1))


def test_what_breaks_the_rules_of_the_format_is_not_written(monkeypatch, tmp_path):
    def refuse(model, full_check):
        raise onnx.checker.ValidationError("a node is missing")

    monkeypatch.setattr(onnx.checker, "check_model", refuse)
    with pytest.raises(OnnxError, match="a node is missing"):
        ac.onnx.export(nn.ReLU(), ac.ones(2), tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())


def test_a_model_can_ask_whether_it_is_exported(tmp_path):
    answers = []

    class Asks(nn.Module):
        def forward(self, x):
            answers.append(ac.onnx.is_in_onnx_export())
            return x * 2

    model = Asks()
    model(ac.ones(1))
    ac.onnx.export(model, (ac.ones(1),), tmp_path / "asks.onnx")
    model(ac.ones(1))
    assert (answers[0], answers[-1]) == (False, False)
    assert set(answers[1:-1]) == {True}
