# SPDX-License-Identifier: MIT
"""Embedding."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, KernelDataError, ShapeError

F = nn.functional


def test_it_returns_rows():
    layer = nn.Embedding(5, 3)
    numbers = np.array([[0, 4], [2, 2]], np.int32)
    rows = layer(ac.tensor(numbers))
    assert rows.tolist() == layer.weight.detach().numpy()[numbers].tolist()
    assert list(layer.state_dict()) == ["weight"]
    assert repr(layer) == "Embedding(5, 3)"
    assert layer(ac.zeros(0, 2, dtype=ac.int64)).shape == (0, 2, 3)


def test_the_table_is_normal_and_follows_the_seed():
    ac.manual_seed(1)
    table = nn.Embedding(100, 200).weight
    assert abs(table.detach().numpy().std() - 1) < 0.02
    ac.manual_seed(1)
    assert nn.Embedding(100, 200).weight.tolist() == table.tolist()


def test_the_padding_row_is_zero_and_stays_so():
    layer = nn.Embedding(4, 2, padding_idx=-3)
    assert repr(layer) == "Embedding(4, 2, padding_idx=1)"
    assert layer.weight[1].tolist() == [0, 0]
    assert (layer.weight[0] != 0).all()
    layer(ac.tensor([1, 0, 1, 0])).sum().backward()
    assert layer.weight.grad.tolist() == [[2, 2], [0, 0], [0, 0], [0, 0]]


def test_a_table_that_is_there_already():
    table = ac.randn(3, 2)
    frozen = nn.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad
    assert frozen(ac.tensor(2)).tolist() == table[2].tolist()
    trained = nn.Embedding.from_pretrained(table, freeze=False, padding_idx=0)
    assert trained.weight.requires_grad
    assert trained.padding_idx == 0
    with pytest.raises(ShapeError, match=r"from_pretrained: .* shape \(3,\)"):
        nn.Embedding.from_pretrained(ac.ones(3))
    with pytest.raises(ShapeError, match=r"`_weight` has shape \(3, 2\), .* \(3, 4\)"):
        nn.Embedding(3, 4, _weight=table)


def test_without_gradients_nothing_is_recorded():
    weight = ac.ones(2, 2, requires_grad=True)
    with ac.no_grad():
        assert not F.embedding(ac.tensor([0]), weight).requires_grad
    assert F.embedding(ac.tensor([0]), weight).requires_grad


def test_what_does_not_fit_is_an_error():
    table = ac.ones(3, 2)
    with pytest.raises(KernelDataError, match="`indices` holds 3 at element 1"):
        F.embedding(ac.tensor([0, 3]), table)
    with pytest.raises(DTypeError, match=r"'indices' to have .* Long or Int, but"):
        F.embedding(ac.ones(2), table)
    with pytest.raises(DTypeError, match="but it has dtype bool"):
        F.embedding(ac.tensor([True]), table)
    with pytest.raises(
        ShapeError, match=r"'weight' must be 2-D, a table .* shape \(3,\)"
    ):
        F.embedding(ac.tensor([0]), ac.ones(3))
    with pytest.raises(ArgumentError, match="`padding_idx` is 3 for a table of 3 rows"):
        F.embedding(ac.tensor([0]), table, 3)
    with pytest.raises(ArgumentError, match="Embedding: `num_embeddings` is -1"):
        nn.Embedding(-1, 2)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_rows_that_are_named_and_too_long_are_made_shorter(p):
    values = np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0], [0.0, 0.0]])
    layer = nn.Embedding.from_pretrained(ac.tensor(values), False, None, 1.0, p)
    out = layer(ac.tensor([0, 1, 0, 3]))
    expected = values.copy()
    expected[0] /= np.abs(values[0]).sum() if p == 1 else 5.0
    np.testing.assert_allclose(layer.weight.detach().numpy(), expected, atol=1e-7)
    assert out.tolist() == layer.weight[ac.tensor([0, 1, 0, 3])].tolist()
    out.sum().backward()
    assert layer.weight.grad.tolist() == [[2.0] * 2, [1.0] * 2, [0.0] * 2, [1.0] * 2]


def test_gradients_divided_by_how_often_a_row_is_named():
    weight = ac.ones(3, 2, dtype=ac.float64, requires_grad=True)
    numbers = ac.tensor([[0, 2], [0, 0]])
    g = ac.arange(8.0, dtype=ac.float64).reshape(2, 2, 2)
    F.embedding(numbers, weight, scale_grad_by_freq=True).backward(g)
    expected = [[10 / 3, 13 / 3], [0.0, 0.0], [2.0, 3.0]]
    np.testing.assert_allclose(weight.grad.numpy(), expected)


def test_bags_pass_the_options_on():
    weight = ac.tensor([[3.0, 4.0], [0.0, 2.0]], requires_grad=True)
    layer = nn.EmbeddingBag.from_pretrained(weight.detach(), False, 1.0, mode="sum")
    assert layer(ac.tensor([[0, 0]])).tolist()[0] == pytest.approx([1.2, 1.6])
    words = {"mode": "sum", "scale_grad_by_freq": True}
    F.embedding_bag(ac.tensor([[0, 0, 1]]), weight, **words).sum().backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(ArgumentError, match=": `scale_grad_by_freq` can only be"):
        F.embedding_bag(ac.tensor([[0]]), weight, mode="max", scale_grad_by_freq=True)
    assert repr(layer) == "EmbeddingBag(2, 2, max_norm=1.0, mode='sum')"
    layer = nn.Embedding(3, 2, 0, 1.0, 1.0, True)
    assert repr(layer) == (
        "Embedding(3, 2, padding_idx=0, max_norm=1.0, norm_type=1.0, "
        "scale_grad_by_freq=True)"
    )
