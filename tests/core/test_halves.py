# SPDX-License-Identifier: MIT
"""float16 and bfloat16: stored in two bytes, computed in float32, rounded once."""

from __future__ import annotations

import copy
import io

import ml_dtypes
import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

HALVES = [ac.float16, ac.bfloat16]
RNG = np.random.default_rng(0)


def values(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.fixture(params=HALVES, ids=lambda dtype: dtype.name)
def half(request):
    return request.param


def test_they_are_floating_point_of_two_bytes(half):
    x = ac.tensor([1.5, -2.0], dtype=half)
    assert x.dtype is half
    assert (x.itemsize, x.is_floating_point()) == (2, True)
    assert half.is_floating_point
    assert half.is_signed
    assert half.is_half
    assert x.tolist() == [1.5, -2.0]
    assert str(x) == f"tensor([ 1.5000, -2.0000], dtype=autocalc.{half.name})"


def test_conversion_rounds_to_the_nearest_even(half):
    x = values(1000)
    numpy = {ac.float16: np.float16, ac.bfloat16: ml_dtypes.bfloat16}[half]
    found = ac.tensor(x).to(half)
    assert np.array_equal(found.numpy(), x.astype(numpy))
    assert np.array_equal(found.float().numpy(), x.astype(numpy).astype(np.float32))
    assert np.array_equal(ac.from_numpy(x.astype(numpy)).numpy(), x.astype(numpy))


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("float16", "bfloat16", "float32"),
        ("float16", "float32", "float32"),
        ("bfloat16", "float64", "float64"),
        ("float16", "int64", "float16"),
        ("bool", "bfloat16", "bfloat16"),
    ],
)
def test_promotion(a, b, both):
    a, b, both = (getattr(ac, name) for name in (a, b, both))
    assert ac.promote_types(a, b) is both
    assert ac.promote_types(b, a) is both
    assert (ac.ones(2, dtype=a) + ac.ones(2, dtype=b)).dtype is both


def test_a_number_keeps_the_dtype(half):
    x = ac.ones(2, dtype=half)
    for result in (x + 1, 2.5 * x, x / 3, x**2, 1 - x):
        assert result.dtype is half
    assert (x > 0.5).dtype is ac.bool


#: One kernel each: what it makes of operands [6, 4] and [4, 6].
OPERATORS = {
    "add": lambda a, b: a + b.T,
    "mul": lambda a, b: a * b.T,
    "div": lambda a, b: a / b.T,
    "exp": lambda a, b: a.exp(),
    "tanh": lambda a, b: b.tanh(),
    "matmul": lambda a, b: a @ b,
    "linear": lambda a, b: F.linear(a, b.T),
    "sum": lambda a, b: a.sum(1),
    "mean": lambda a, b: a.mean(),
    "var": lambda a, b: a.var(0),
    "softmax": lambda a, b: F.softmax(a, -1),
    "layer_norm": lambda a, b: F.layer_norm(a, (4,)),
    "gelu": lambda a, b: F.gelu(a),
    "max": lambda a, b: a.max(1).values,
    "cat": lambda a, b: ac.cat([a, b.T]),
    "gather": lambda a, b: a.gather(1, ac.tensor([[0, 3]] * 6)),
    "where": lambda a, b: ac.where(a > 0, a, b.T),
    "cumsum": lambda a, b: a.cumsum(0),
    "sort": lambda a, b: a.sort(1).values,
    "norm": lambda a, b: ac.linalg.vector_norm(a),
    "conv": lambda a, b: F.conv1d(a.unsqueeze(0), b.reshape(2, 6, 2)),
    "cross_entropy": lambda a, b: F.cross_entropy(a, ac.tensor([0, 1, 2, 3, 0, 1])),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_compute_in_float32_and_round_once(half, name):
    function = OPERATORS[name]
    a, b = (ac.tensor(values(*shape)).to(half) for shape in ((6, 4), (4, 6)))
    expected = function(a.float(), b.float()).to(half)
    found = function(a, b)
    assert found.dtype is half
    assert np.array_equal(found.numpy(), expected.numpy())


def test_gradients_are_those_of_float32_rounded(half):
    x, w = (ac.tensor(values(*shape)).to(half) for shape in ((5, 3), (3, 4)))
    found = [t.detach().clone().requires_grad_() for t in (x, w)]
    wide = [t.detach().float().requires_grad_() for t in (x, w)]
    for a, b in (found, wide):
        F.gelu(a @ b).sum().backward()
    eps = ac.finfo(half).eps
    for mine, expected in zip(found, wide, strict=True):
        assert mine.grad.dtype is half
        np.testing.assert_allclose(
            mine.grad.float().numpy(), expected.grad.numpy(), rtol=4 * eps, atol=4 * eps
        )


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_a_network_learns(half, optimizer):
    ac.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, 1))
    net.to(half)
    x = ac.tensor(values(32, 4)).to(half)
    y = x[:, :1] - 2 * x[:, 1:2]
    update = getattr(ac.optim, optimizer)(net.parameters(), lr=0.02, **(
        {"eps": 1e-4} if optimizer != "SGD" else {}
    ))  # fmt: skip
    losses = []
    for _ in range(60):
        loss = F.mse_loss(net(x), y)
        update.zero_grad()
        loss.backward()
        update.step()
        losses.append(loss.item())
    assert all(p.dtype is half for p in net.parameters())
    assert losses[-1] < 0.2 * losses[0]


LAYERS = {
    "conv": (lambda: nn.Conv2d(2, 3, 3), (1, 2, 5, 5)),
    "batch norm": (lambda: nn.BatchNorm2d(2), (4, 2, 3, 3)),
    "lstm": (lambda: nn.LSTM(3, 4), (2, 1, 3)),
    "encoder": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0),
        (2, 3, 8),
    ),
    "pool": (lambda: nn.MaxPool2d(2), (1, 2, 4, 4)),
    "linear": (lambda: nn.Linear(3, 2), (4, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_near_those_of_float32(half, name):
    make, shape = LAYERS[name]
    ac.manual_seed(0)
    layer, x = make(), ac.tensor(values(*shape)).to(half)
    wide = copy.deepcopy(layer.to(half)).float()
    found, expected = layer(x), wide(x.float())
    first = found[0] if isinstance(found, tuple) else found
    other = expected[0] if isinstance(expected, tuple) else expected
    assert first.dtype is half
    close = 16 * ac.finfo(half).eps
    np.testing.assert_allclose(
        first.detach().float().numpy(), other.detach().numpy(), rtol=close, atol=close
    )
    first.sum().backward() if first.requires_grad else None


def test_methods_and_classes_by_pytorchs_names(half):
    name = {ac.float16: "half", ac.bfloat16: "bfloat16"}[half]
    kind = {ac.float16: ac.HalfTensor, ac.bfloat16: ac.BFloat16Tensor}[half]
    assert getattr(ac.ones(2), name)().dtype is half
    assert getattr(nn.Linear(2, 2), name)().weight.dtype is half
    assert isinstance(kind([1, 2]), kind)
    assert ac.half is ac.float16


def test_values_are_written_in_place(half):
    x = ac.zeros(2, 3, dtype=half)
    x[0] = 1.5
    x[:, 1] += 2
    x.mul_(2)
    x.index_add_(0, ac.tensor([1]), ac.ones(1, 3, dtype=half))
    assert x.tolist() == [[3.0, 7.0, 3.0], [1.0, 5.0, 1.0]]


def test_random_numbers_and_ranges(half):
    ac.manual_seed(0)
    for draw in (ac.rand, ac.randn):
        x = draw(1000, dtype=half)
        assert x.dtype is half
        assert 0.2 < x.float().std().item() < 1.1
    assert ac.arange(3, dtype=half).tolist() == [0.0, 1.0, 2.0]
    assert ac.linspace(0, 1, 3, dtype=half).tolist() == [0.0, 0.5, 1.0]


def test_a_norm_does_not_overflow_where_squares_would(half):
    assert ac.linalg.vector_norm(ac.tensor([300.0, 400.0]).to(half)).item() == 500.0


def test_limits():
    assert ac.finfo(ac.float16).max == 65504
    assert ac.finfo(ac.bfloat16).eps == 2.0**-7
    assert ac.finfo(ac.bfloat16).bits == 16


@pytest.mark.parametrize("stream", [False, True])
def test_files_keep_every_bit(half, stream, tmp_path):
    bits = ac.arange(65536).to(ac.int32).numpy().astype(np.uint16)
    x = ac.from_numpy(bits.view(half.numpy))
    file = io.BytesIO() if stream else tmp_path / "half.safetensors"
    ac.save({"x": x}, file)
    if stream:
        file.seek(0)
    found = ac.load(file)["x"]
    assert found.dtype is half
    assert np.array_equal(found.numpy().view(np.uint16), bits)


@pytest.mark.torch
def test_checkpoints_of_pytorch_come_and_go_bit_for_bit(half, tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch writes the file")
    from safetensors.torch import load_file, save_file

    theirs = {
        "w": torch.randn(5, 7).to(getattr(torch, half.name)),
        "b": torch.tensor([float("nan"), float("inf"), -0.0], dtype=torch.float32),
    }
    save_file(theirs, tmp_path / "theirs.safetensors")
    ac.save(ac.load(tmp_path / "theirs.safetensors"), tmp_path / "ours.safetensors")
    again = load_file(tmp_path / "ours.safetensors")
    assert again["w"].dtype == theirs["w"].dtype
    for name, x in theirs.items():
        whole = {2: torch.int16, 4: torch.int32}[x.element_size()]
        assert torch.equal(again[name].view(whole), x.view(whole))


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16], ids=str)
def test_nan_to_num_takes_the_largest_number_of_the_dtype(dtype):
    x = ac.tensor([float("nan"), float("inf"), -float("inf"), 1.0], dtype=dtype)
    most = ac.finfo(dtype).max
    assert ac.nan_to_num(x).tolist() == [0.0, most, -most, 1.0]
    assert ac.nan_to_num(x, 2.0, 3.0, 4.0).tolist() == [2.0, 3.0, 4.0, 1.0]
