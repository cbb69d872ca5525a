# SPDX-License-Identifier: MIT
"""A model's layers with shapes, parameters, work and memory."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import summary
from autocalc.errors import ArgumentError, DTypeError

pytestmark = pytest.mark.core


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten()
        )
        self.head = nn.Linear(8 * 36, 10)
        self.head.bias.requires_grad_(False)
        self.unused = nn.Linear(2, 2)

    def forward(self, x, scale=1.0):
        return self.head(self.body(x)) * scale


def test_layers_shapes_and_parameters():
    net = Net()
    found = summary(net, input_size=(2, 3, 8, 8))
    by_name = {layer.name: layer for layer in found.layers}
    assert list(by_name) == [name for name, _ in net.named_modules()]
    assert by_name["body.0"].output_shape == (2, 8, 6, 6)
    assert by_name["body.0"].parameters == 8 * 27 + 8
    assert by_name["head"].trainable == 2880
    assert by_name["unused"].output_shape is None
    assert by_name[""].output_shape == (2, 10)
    assert found.parameters == sum(p.numel() for p in net.parameters())
    assert found.trainable == found.parameters - 10
    assert found.parameter_bytes == 4 * found.parameters
    assert found.input_bytes == 4 * 2 * 3 * 64
    text = repr(found)
    assert "not called" in text
    assert f"{found.parameters:,} parameters" in text


def test_flops_are_those_of_the_kernels():
    found = summary(nn.Linear(64, 32), input_size=(16, 64))
    assert found.flops == pytest.approx(2 * 16 * 64 * 32, rel=0.02)
    conv = summary(nn.Conv2d(3, 8, 3), input_size=(2, 3, 8, 8))
    assert conv.flops == pytest.approx(2 * 2 * 8 * 36 * 27, rel=0.05)


def test_flops_of_a_composite_do_not_depend_on_who_runs_it():
    model = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    best = summary(model, input_size=(2, 5, 16)).flops
    with ac.kernels.use("reference", only=True):
        assert summary(model, input_size=(2, 5, 16)).flops == pytest.approx(best)
    assert best > 0


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16, ac.float64])
def test_flops_do_not_depend_on_the_dtype(dtype):
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU(), nn.Flatten(),
        nn.Linear(288, 10), nn.LayerNorm(10), nn.Softmax(-1),
    )  # fmt: skip
    wanted = summary(model, input_size=(2, 3, 8, 8))
    found = summary(model.to(dtype), input_size=(2, 3, 8, 8))
    assert [one.flops for one in found.layers] == [one.flops for one in wanted.layers]
    assert found.input_bytes == 2 * 3 * 64 * dtype.itemsize


def test_the_model_is_as_before():
    net = Net()
    net.body.eval()
    modes = [m.training for m in net.modules()]
    state = {k: v.clone() for k, v in net.state_dict().items()}
    generator = ac.get_rng_state()
    summary(net, input_size=(2, 3, 8, 8))
    assert [m.training for m in net.modules()] == modes
    assert all(ac.equal(v, state[k]) for k, v in net.state_dict().items())
    assert ac.equal(ac.get_rng_state(), generator)
    assert all(not m._hooks.forward for m in net.modules())


def test_inputs_and_keywords_are_given_to_the_model():
    found = summary(Net(), ac.randn(1, 3, 8, 8), scale=2.0)
    assert found.layers[0].output_shape == (1, 10)
    two = summary(nn.Bilinear(2, 3, 4), input_size=[(5, 2), (5, 3)])
    assert two.layers[0].output_shape == (5, 4)
    words = nn.Embedding(10, 4)
    assert summary(words, ac.zeros(3, dtype=ac.int64)).layers[0].output_shape == (3, 4)
    assert summary(nn.Linear(2, 2).double(), input_size=(1, 2)).input_bytes == 16


def test_modules_that_are_shared_or_lazy():
    layer = nn.Linear(4, 4)
    shared = summary(nn.Sequential(layer, layer), input_size=(2, 4))
    assert shared.parameters == 20
    assert shared.layers[1].calls == 2
    lazy = summary(nn.Sequential(nn.LazyLinear(3)), input_size=(2, 4))
    assert lazy.parameters == 15


def test_a_compiled_model():
    assert summary(ac.compile(nn.Linear(4, 2)), input_size=(1, 4)).parameters == 10


def test_what_is_wrong_is_refused():
    net = nn.Linear(4, 2)
    with pytest.raises(DTypeError, match="summary: `model` is a list"):
        summary([])
    with pytest.raises(ArgumentError, match="summary: there is no input"):
        summary(net)
    with pytest.raises(ArgumentError, match="summary: both inputs and `input_size`"):
        summary(net, ac.ones(1, 4), input_size=(1, 4))
    with pytest.raises(
        DTypeError, match=r"`input_size` is 1\.5; it must be an integer"
    ):
        summary(net, input_size=(1.5, 4))
    with pytest.raises(ArgumentError, match=r"`input_size` is \(\); give a shape"):
        summary(net, input_size=())
