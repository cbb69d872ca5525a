# SPDX-License-Identifier: MIT
"""Recurrent layers and cells: values, gradients, states, errors."""

import itertools

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.testing import assert_close

nn = ac.nn


def leaf(*shape):
    x = ac.randn(*shape, dtype=ac.float64) * 0.7
    return x.detach().requires_grad_()


def test_only_the_wanted_gradients_are_computed():
    layer = nn.LSTM(1, 3, dtype=ac.float64).requires_grad_(False)
    x, h0, c0 = leaf(2, 1, 1), leaf(1, 1, 3), leaf(1, 1, 3)
    layer(x, (h0.detach(), c0))[1][0].sum().backward()
    assert x.grad is not None
    assert c0.grad is not None
    assert layer.weight_ih_l0.grad is None


def pairs(kind, *states):
    """Return h of each, and of an LSTM c of each."""
    return zip(*(s if kind == "LSTM" else [s] for s in states), strict=True)


def lstm_by_formula(layer, x):
    h = c = ac.zeros(x.shape[1], layer.hidden_size, dtype=x.dtype)
    for step in x:
        sums = step @ layer.weight_ih_l0.t() + layer.bias_ih_l0
        sums = sums + h @ layer.weight_hh_l0.t() + layer.bias_hh_l0
        n = layer.hidden_size
        i, f, g, o = (sums[:, j * n : (j + 1) * n] for j in range(4))
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return h, c


def test_lstm_is_its_formula():
    ac.manual_seed(1)
    layer = nn.LSTM(3, 4, dtype=ac.float64)
    x = ac.randn(5, 2, 3, dtype=ac.float64)
    out, (h, c) = layer(x)
    expected = lstm_by_formula(layer, x)
    assert_close(h[0], expected[0])
    assert_close(c[0], expected[1])
    assert_close(out[-1], h[0])


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_reversed_half_is_the_layer_on_the_reversed_sequence(kind):
    ac.manual_seed(1)
    both = getattr(nn, kind)(3, 4, bidirectional=True)
    plain = getattr(nn, kind)(3, 4)
    state = both.state_dict()
    plain.load_state_dict({k: state[f"{k}_reverse"] for k in plain.state_dict()})
    x = ac.randn(5, 2, 3)
    turned = ac.stack([x[t] for t in range(4, -1, -1)])
    expected = plain(turned)[0]
    out, last = both(x)
    assert_close(out[0, :, 4:], expected[4])
    assert_close(out[4, :, 4:], expected[0])
    h = last[0] if kind == "LSTM" else last
    assert_close(h[1], expected[4])


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_batch_first_and_single_sequences_are_the_same_numbers(kind):
    ac.manual_seed(1)
    layer = getattr(nn, kind)(3, 4, 2, batch_first=True)
    x = ac.randn(2, 5, 3)
    out, last = layer(x)
    one, last_of_one = layer(x[1])
    assert_close(one, out[1])
    pairs = zip(
        *(s if kind == "LSTM" else [s] for s in (last, last_of_one)), strict=True
    )
    for whole, single in pairs:
        assert single.shape == (2, 4)
        assert_close(single, whole[:, 1])
    layer.batch_first = False
    assert_close(layer(x.transpose(0, 1))[0], out.transpose(0, 1))


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_sequence_in_two_parts_and_cells_go_on_where_they_were(kind):
    ac.manual_seed(1)
    layer = getattr(nn, kind)(3, 4)
    cell = getattr(nn, f"{kind}Cell")(3, 4)
    state = layer.state_dict()
    cell.load_state_dict({key.removesuffix("_l0"): t for key, t in state.items()})
    x = ac.randn(5, 2, 3)
    out, last = layer(x)
    _, middle = layer(x[:2])
    assert_close(layer(x[2:], middle)[0], out[2:])
    states = None
    for step in x:
        states = cell(step, states)
    for mine, whole in pairs(kind, states, last):
        assert_close(mine, whole[0])
    for single, batch in pairs(kind, cell(x[0, 1]), cell(x[0])):
        assert_close(single, batch[1])


def test_dropout_is_between_layers_and_in_training_alone():
    ac.manual_seed(1)
    layer = nn.GRU(3, 4, 2, dropout=1.0)
    x = ac.randn(5, 2, 3)
    lower = nn.GRU(4, 4)
    state = layer.state_dict()
    lower.load_state_dict({k: state[k.replace("l0", "l1")] for k in lower.state_dict()})
    assert_close(layer(x)[0], lower(ac.zeros(5, 2, 4))[0])
    a, b = layer.eval()(x)[0], layer(x)[0]
    assert (a == b).all()
    with pytest.warns(UserWarning, match="has no effect, because it is applied"):
        nn.GRU(3, 4, dropout=0.5)


def test_a_projection_narrows_the_output():
    layer = nn.LSTM(3, 5, 2, bidirectional=True, proj_size=2)
    out, (h, c) = layer(ac.randn(4, 1, 3))
    assert (out.shape, h.shape, c.shape) == ((4, 1, 4), (4, 1, 2), (4, 1, 5))
    assert layer.weight_hr_l1_reverse.shape == (2, 5)
    assert [len(one) for one in layer.all_weights] == [5] * 4


def test_names_shapes_and_first_values_of_parameters():
    layer = nn.GRU(3, 4, 2, bidirectional=True)
    kinds = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
    names = [
        f"{kind}_l{n}{suffix}"
        for n, suffix in itertools.product((0, 1), ("", "_reverse"))
        for kind in kinds
    ]
    assert list(layer.state_dict()) == names
    assert layer.weight_ih_l1.shape == (12, 8)
    bound = 4**-0.5
    for parameter in layer.parameters():
        assert parameter.abs().max().item() <= bound
        assert parameter.abs().max().item() > 0.5 * bound
    assert "bias_ih_l0" not in nn.RNN(3, 4, bias=False).state_dict()


def test_the_step_by_step_kernels_serve_float32_too():
    out, h = nn.RNN(2, 3, nonlinearity="relu")(ac.randn(4, 1, 2))
    assert out.dtype is h.dtype is ac.float32
    assert (out >= 0).all()


test_errors = refusals(
    r"""
    nn.LSTM(3, 4)(ac.ones(5, 2, 2)) -> ShapeError: LSTM: `input` has shape \(5, 2, 2\);
        it must be \(T, B, 3\)
    nn.GRU(3, 4, batch_first=True)(ac.ones(3)) -> ShapeError: must be \(B, T, 3\), or
        \(T, 3\) for one
    nn.GRU(3, 4)(ac.ones(0, 2, 3)) -> ShapeError: give at least one step
    nn.GRU(3, 4)(ac.ones(1, 2, 3).double()) -> DTypeError: RNN input dtype \(float64\)
    nn.LSTM(3, 4)(ac.ones(1, 2, 3), ac.ones(1, 2, 4)) -> ArgumentError:
        `hx` holds 1 states; it must hold \(h0,
    nn.GRU(3, 4)(ac.ones(1, 2, 3), ac.ones(1, 3, 4)) -> ShapeError: Expected hidden
        size \(1, 2, 4\), layers .* but got `h0` of shape \(1, 3, 4\)
    nn.RNN(3, 4, 0) -> ArgumentError: num_layers must be greater than zero, not 0
    nn.GRU(0, 4) -> ArgumentError: GRU: input_size must be greater than zero
    nn.GRU(3, 4.0) -> DTypeError: GRU: hidden_size should be of type int, got: float
    nn.GRU(3, 4, bias=0) -> ArgumentError: GRU: bias should be of type bool, got: int
    nn.GRU(3, 4, num_layers='x') -> DTypeError: GRU: `num_layers` is 'x'
    nn.LSTM(3, 4, proj_size='x') -> DTypeError: LSTM: `proj_size` is 'x'
    nn.LSTM(3, 4, proj_size=4) -> ArgumentError: must be below hidden_size, 4
    nn.GRU(3, 4, proj_size=2) -> ArgumentError: GRU: proj_size argument is only
        supported for LSTM, not RNN or GRU; it is 2
    nn.RNN(3, 4, nonlinearity='sin') -> ArgumentError: RNN: Unknown nonlinearity 'sin';
        use 'tanh' or 'relu'
    nn.RNN(3, 4, 2, dropout=2.0) -> ArgumentError: `p` is 2.0
    nn.GRUCell(3, 4)(ac.ones(2, 4)) -> ShapeError: GRUCell: input has inconsistent
        input_size: got 4 expected 3; it must be \(B, 3\)
    nn.RNNCell(3, 4)(ac.ones(2, 3), ac.ones(1, 4)) -> ShapeError: Input batch
        size 2 doesn't match hidden0 batch size 1; it must be \(2, 4\)
    nn.RNNCell(3, 4)(ac.ones(2, 3), ac.ones(2, 1, 4)) -> ShapeError: Expected hidden to
        be 1D or 2D, got 3D instead
    nn.LSTMCell(3, 4)(ac.ones(2, 3), (ac.ones(2, 1, 1, 4), ac.ones(2, 4))) ->
        ShapeError: Expected hx\[0\] to be 1D or 2D, got 4D instead
    nn.RNNCell(3, 4)(ac.ones(2, 3), ac.ones(2, 5)) -> ShapeError: hidden0 has
        inconsistent hidden_size: got 5, expected 4
    nn.LSTMCell(3, 4)(ac.ones(2, 3), ac.ones(2, 4)) -> ArgumentError:
        `hx` holds 1 states; it must hold \(h,
    """,
    globals(),
)
