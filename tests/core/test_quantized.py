# SPDX-License-Identifier: MIT
"""Weights of 8 and 4 bits: their format, layers on them, and `quantize` of models."""

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ModuleError, ShapeError

FORMATS = ("int8", "int4")


@pytest.fixture
def dense():
    ac.manual_seed(0)
    return nn.Linear(96, 10)


def unpacked(layer):
    """Return a layer's scales [rows, groups, 1] and codes [rows, groups, group]."""
    blocks = layer.weight.numpy()
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
    codes = np.ascontiguousarray(blocks[..., 2:])
    if layer.bits == 8:
        return scales, codes.view(np.int8).astype(np.float32)
    chunks = codes.reshape(*codes.shape[:-1], -1, 16)
    both = np.concatenate([chunks & 15, chunks >> 4], -1).astype(np.float32) - 8
    return scales, both.reshape(*codes.shape[:-1], -1)


@pytest.mark.parametrize("group", [32, 96])
@pytest.mark.parametrize("weights", FORMATS)
def test_a_weight_is_scale_times_code_and_off_by_half_a_scale(dense, weights, group):
    layer = nn.QuantizedLinear.from_linear(dense, weights, group)
    scales, codes = unpacked(layer)
    numbers = layer.dequantize().numpy().reshape(codes.shape)
    assert np.array_equal(numbers, scales * codes)
    exact = dense.weight.detach().numpy().reshape(codes.shape)
    # A code of 4 bits ends at 7, so that 8 scales are off by a whole one.
    steps = 0.5 if weights == "int8" else 1.0
    assert np.all(np.abs(numbers - exact) <= 1.01 * steps * np.abs(scales))


def test_codes_of_8_bits_reach_127_in_each_group(dense):
    _, codes = unpacked(nn.QuantizedLinear.from_linear(dense))
    assert np.all(np.abs(codes).max(-1) == 127)


def test_codes_of_4_bits_reach_minus_8_in_each_group(dense):
    _, codes = unpacked(nn.QuantizedLinear.from_linear(dense, "int4"))
    assert np.all(codes.min(-1) == -8)


@pytest.mark.parametrize("weights", FORMATS)
def test_float_activations_multiply_the_unpacked_weights(dense, weights):
    layer = nn.QuantizedLinear.from_linear(dense, weights, activations="float32")
    x = ac.randn(2, 3, 96)
    expected = nn.functional.linear(x, layer.dequantize(), dense.bias)
    assert ac.equal(layer(x), expected)


@pytest.mark.parametrize("weights", FORMATS)
def test_int8_activations_multiply_integers(dense, weights):
    layer = nn.QuantizedLinear.from_linear(dense, weights)
    x = ac.randn(7, 96)
    rows = nn.QuantizedEmbedding(7, 96)
    rows.quantize(x)  # the same rounding
    expected = rows.dequantize().double() @ layer.dequantize().double().T
    expected = expected + dense.bias.double()
    ac.testing.assert_close(layer(x).double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(96,), (0, 96), (2, 3, 96)])
def test_leading_dimensions_are_kept(dense, shape):
    layer = nn.QuantizedLinear.from_linear(dense)
    assert layer(ac.zeros(*shape)).shape == (*shape[:-1], 10)


@pytest.mark.parametrize("activations", ["int8", "float32"])
@pytest.mark.parametrize("weights", FORMATS)
def test_gradients_are_those_of_the_unpacked_layer(dense, weights, activations):
    layer = nn.QuantizedLinear.from_linear(dense, weights, activations=activations)
    x = ac.randn(5, 96, requires_grad=True)
    g = ac.randn(5, 10)
    dx, db = ac.autograd.grad(layer(x), (x, layer.bias), g)
    ac.testing.assert_close(dx, g @ layer.dequantize())
    ac.testing.assert_close(db, g.sum(0))


def test_a_number_that_is_not_finite_makes_its_row_nan(dense):
    layer = nn.QuantizedLinear.from_linear(dense)
    x = ac.randn(3, 96)
    x[1, 40] = float("inf")
    out = layer(x)
    assert ac.isnan(out[1]).all()
    assert ac.isfinite(out[[0, 2]]).all()


@pytest.mark.parametrize("weights", FORMATS)
def test_an_embedding_selects_unpacked_rows(weights):
    dense = nn.Embedding(11, 64)
    table = nn.QuantizedEmbedding.from_embedding(dense, weights)
    index = ac.tensor([[3, 3], [10, 0]])
    assert ac.equal(table(index), table.dequantize()[index])


def model():
    ac.manual_seed(1)
    return nn.Sequential(
        nn.Embedding(20, 64), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3)
    )


@pytest.mark.parametrize(("weights", "error"), [("int8", 0.02), ("int4", 0.3)])
def test_quantize_replaces_layers_and_changes_results_little(weights, error):
    net, index = model(), ac.arange(20)
    exact = net(index)
    assert ac.quantize(net, weights) is net
    kinds = [type(layer).__name__ for layer in net]
    assert kinds == ["QuantizedEmbedding", "QuantizedLinear", "ReLU", "QuantizedLinear"]
    assert (net(index) - exact).norm() < error * exact.norm()


def test_quantize_takes_a_quarter_of_the_memory():
    net = model()
    before = sum(p.nbytes for p in net.parameters())
    ac.quantize(net)
    after = sum(t.nbytes for t in net.state_dict().values())
    assert after < 0.29 * before


def test_quantize_keeps_what_is_excluded():
    net = ac.quantize(model(), exclude=["3", "0*"])
    assert [type(net[i]) for i in (0, 3)] == [nn.Embedding, nn.Linear]
    assert type(net[1]) is nn.QuantizedLinear


def test_quantize_returns_a_layer_for_a_layer(dense):
    assert isinstance(ac.quantize(dense, "int4"), nn.QuantizedLinear)


def test_shared_weights_stay_shared():
    table, head = nn.Embedding(20, 64), nn.Linear(64, 20, bias=False)
    head.weight = table.weight
    net = ac.quantize(nn.Sequential(table, head))
    assert net[0].weight is net[1].weight


def test_a_layer_in_two_places_stays_one_layer():
    layer = nn.Linear(32, 32)
    net = ac.quantize(nn.Sequential(layer, layer))
    assert net[0] is net[1]


def test_multihead_attention_keeps_its_layers():
    net = ac.quantize(nn.TransformerEncoderLayer(32, 2, 64))
    assert type(net.self_attn.out_proj) is not nn.QuantizedLinear
    assert type(net.linear1) is nn.QuantizedLinear


def test_a_state_is_saved_and_loaded(tmp_path):
    net, index = ac.quantize(model(), "int4"), ac.arange(20)
    ac.save(net.state_dict(), tmp_path / "net.ac")
    other = ac.quantize(model().apply(zeroed), "int4")
    other.load_state_dict(ac.load(tmp_path / "net.ac"))
    assert ac.equal(other(index), net(index))


def zeroed(layer):
    """Set a layer's weights to 0."""
    with ac.no_grad():
        for parameter in layer.parameters(recurse=False):
            parameter.zero_()


@pytest.mark.parametrize("weights", FORMATS)
def test_layers_before_a_quantised_one_are_trained(weights):
    ac.manual_seed(2)
    first, last = nn.Linear(8, 64), nn.Linear(64, 1)
    net = nn.Sequential(first, nn.Tanh(), ac.quantize(last, weights))
    optimizer = ac.optim.Adam(net.parameters(), lr=0.02)
    x = ac.randn(64, 8)
    y = x[:, :1] * x[:, 1:2]
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("activations", ["int8", "float32"])
def test_a_compiled_layer_gives_the_same_bits(dense, activations):
    layer = nn.QuantizedLinear.from_linear(dense, activations=activations)
    compiled = ac.compile(layer)
    with ac.no_grad():
        for _ in range(3):
            x = ac.randn(4, 96)
            assert ac.equal(compiled(x), layer(x))


def test_a_row_that_is_no_multiple_of_the_group_is_refused():
    with pytest.raises(ArgumentError, match=r"the row's size` is 50; it must be a mul"):
        nn.QuantizedLinear(50, 3)
    net = nn.Sequential(nn.Linear(64, 50), nn.Linear(50, 3))
    with pytest.raises(ArgumentError, match=r"multiple of `group` = 32 long: 1 \(50"):
        ac.quantize(net)
    assert type(net[0]) is nn.Linear  # nothing was replaced


@pytest.mark.parametrize("group", [0, 16, -32, 33, "32"])
def test_a_group_is_a_multiple_of_32(group):
    message = r"`group` is .*; it must be a positive multiple of 32"
    with pytest.raises(ArgumentError, match=message):
        nn.QuantizedLinear(64, 3, group=group)
    with pytest.raises(ArgumentError, match=message):
        ac.quantize(model(), group=group)


def test_formats_are_checked(dense):
    with pytest.raises(ArgumentError, match="`weights`='int3'; use 'int8' or 'int4'"):
        ac.quantize(dense, "int3")
    with pytest.raises(ArgumentError, match="`activations`='int4'; use 'int8' or"):
        nn.QuantizedLinear(64, 3, activations="int4")


def test_a_model_without_such_layers_is_refused():
    with pytest.raises(ModuleError, match="has no `Linear` and no `Embedding`"):
        ac.quantize(nn.Conv2d(3, 3, 3))


def test_a_wrong_input_is_refused(dense):
    layer = nn.QuantizedLinear.from_linear(dense)
    with pytest.raises(ShapeError, match=r"last dimension of `x` must be 96"):
        layer(ac.zeros(2, 64))
    with pytest.raises(DTypeError, match=r"`x` is float64; it must be float32"):
        layer(ac.zeros(2, 96, dtype=ac.float64))
