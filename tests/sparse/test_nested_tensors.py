# SPDX-License-Identifier: MIT
"""Nested tensors: sequences of different lengths, and their functions."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

F = ac.nn.functional


def sequences(*rest: int, grad: bool = False):
    ac.manual_seed(0)
    return [ac.randn(n, *rest, requires_grad=grad) for n in (2, 4, 1)]


def test_parts():
    parts = sequences(3)
    x = ac.nested.nested_tensor(parts, layout=ac.jagged)
    assert isinstance(x, ac.Tensor)
    assert x.is_nested
    assert x.layout is ac.jagged
    assert repr(x.shape) == "autocalc.Size([3, j1, 3])"
    assert x.ndim == 3
    assert x.offsets().tolist() == [0, 2, 6, 7]
    assert x.lengths().tolist() == [2, 4, 1]
    assert x.size(0) == 3
    assert x.size(2) == 3
    assert x.numel() == 21
    assert len(x) == 3
    assert x.shape == (x + 1).shape
    for a, b in zip(x.unbind(), parts, strict=True):
        assert a.tolist() == b.tolist()
    assert x[-1].tolist() == parts[2].tolist()
    assert "NestedTensor(size=(3, j1, 3)" in repr(x)
    y = pickle.loads(pickle.dumps(copy.deepcopy(x)))
    assert y.tolist() == x.tolist()


def test_padding():
    x = ac.nested.nested_tensor([[1.0], [2.0, 3.0]])
    assert x.to_padded_tensor(-1.0).tolist() == [[1, -1], [2, 3]]
    padded = ac.nested.to_padded_tensor(x, 0.0, (2, 3))
    assert padded.tolist() == [[1, 0, 0], [2, 3, 0]]
    with pytest.raises(ShapeError, match=r"`output_size` is \(2, 1\); it must be"):
        x.to_padded_tensor(0.0, (2, 1))
    with pytest.raises(DTypeError, match="to_padded_tensor: `input` is dense"):
        ac.ones(2).to_padded_tensor(0.0)


FUNCTIONS = {
    "exp": lambda x: x.exp(),
    "ac.sin": ac.sin,
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "arithmetic": lambda x: (2 * x + 1 - x / 3) * x - x,
    "row": lambda x: x * ac.arange(4.0) + ac.arange(4.0),
    "linear": lambda x: F.linear(x, ac.ones(2, 4), ac.ones(2)),
    "Linear": ac.nn.Linear(4, 3),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "LayerNorm": ac.nn.LayerNorm(4),
    "softmax": lambda x: ac.softmax(x, -1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: ac.mean(x, -1, True),
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
    "Sequential": ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU(), ac.nn.Dropout(0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_does_to_each_sequence_what_it_does_to_a_dense_one(name):
    parts = sequences(4, grad=True)
    x = ac.nested.as_nested_tensor(parts)
    found = FUNCTIONS[name](x)
    assert found.is_nested
    found.values().pow(2).sum().backward()
    grads = [part.grad for part in parts]
    for i, part in enumerate(sequences(4, grad=True)):
        expected = FUNCTIONS[name](part)
        expected.pow(2).sum().backward()
        np.testing.assert_allclose(
            found.unbind()[i].detach().numpy(), expected.detach().numpy(), atol=1e-6
        )
        np.testing.assert_allclose(grads[i].numpy(), part.grad.numpy(), atol=1e-5)


def test_sums_over_sequences_and_rows_for_each_sequence():
    parts = sequences(3)
    x = ac.nested.nested_tensor(parts)
    for name in ("sum", "mean"):
        expected = ac.stack([getattr(part, name)(0) for part in parts])
        found = getattr(x, name)(1)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5)
    centred = x - x.mean(1, keepdim=True)
    np.testing.assert_allclose(centred.sum(1).numpy(), 0, atol=1e-5)
    assert x.sum().item() == pytest.approx(sum(p.sum().item() for p in parts), abs=1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_attention_within_each_sequence(causal):
    parts = sequences(4)
    x = ac.nested.nested_tensor(parts, requires_grad=True)
    heads = x.unflatten(-1, (2, 2)).transpose(1, 2)
    assert repr(heads.shape) == "autocalc.Size([3, 2, j1, 2])"
    out = F.scaled_dot_product_attention(heads, heads, heads, is_causal=causal)
    joined = out.transpose(1, 2).flatten(-2)
    joined.values().pow(2).sum().backward()
    for i, part in enumerate(parts):
        own = part.clone().requires_grad_()
        one = own.unflatten(-1, (2, 2)).transpose(0, 1)
        expected = F.scaled_dot_product_attention(one, one, one, is_causal=causal)
        expected = expected.transpose(0, 1).flatten(-2)
        expected.pow(2).sum().backward()
        near = {"atol": 1e-5, "rtol": 1e-4}
        got = joined.unbind()[i].detach().numpy()
        np.testing.assert_allclose(got, expected.detach().numpy(), **near)
        np.testing.assert_allclose(x.grad[i].numpy(), own.grad.numpy(), **near)


def test_from_jagged():
    rows = ac.arange(6.0).reshape(3, 2)
    x = ac.nested.nested_tensor_from_jagged(rows, ac.tensor([0, 1, 3]))
    y = ac.nested.nested_tensor_from_jagged(rows, lengths=ac.tensor([1, 2]))
    assert x.values() is rows
    assert (x + y).tolist() == (2 * x).tolist()
    assert ac.nested.as_nested_tensor(x) is x
    with pytest.raises(ShapeError, match="must end with the number of rows, 3"):
        ac.nested.nested_tensor_from_jagged(rows, ac.tensor([0, 4]))
    with pytest.raises(ArgumentError, match="give one of `offsets` and `lengths`"):
        ac.nested.nested_tensor_from_jagged(rows)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: ac.cumsum(x, 1), DTypeError, "nested tensor"),
        (lambda x: x.matmul(ac.ones(4, 2)), DTypeError, "got a nested tensor"),
        (lambda x: ac.cat([x, x]), DTypeError, "cat: got a nested tensor"),
        (lambda x: x.numpy(), DTypeError, "got a nested tensor"),
        (lambda x: x.sum(0), ArgumentError, "not supported over dimension 0"),
        (lambda x: x.softmax(1), ArgumentError, "must be after the ragged"),
        (lambda x: x.view(12), ShapeError, "cannot have the sizes"),
        (lambda x: x + ac.ones(3, 2, 4), ShapeError, "does not fit a nested one"),
        (lambda x: x.unbind(1), ArgumentError, "only supported for dim=0"),
        (lambda x: x[0:1], DTypeError, "can be indexed with an integer"),
        (lambda x: ac.zeros(x.shape), TypeError, "are not all integers"),
        (
            lambda x: F.scaled_dot_product_attention(x, x, x),
            DTypeError,
            "all be nested",
        ),
        (lambda x: ac.nested.nested_tensor([]), ArgumentError, "there is no sequence"),
        (
            lambda x: ac.nested.nested_tensor([ac.ones(1, 2), ac.ones(1, 3)]),
            ShapeError,
            "Cannot represent given tensor list as a nested tensor",
        ),
        (
            lambda x: ac.nested.nested_tensor([[1.0]], layout=ac.strided),
            ArgumentError,
            "the only layout is jagged",
        ),
        (
            lambda x: x + ac.nested.nested_tensor([ac.ones(1, 4)] * 3),
            ShapeError,
            "must have the same lengths",
        ),
    ],
)
def test_what_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(ac.nested.nested_tensor(sequences(4)))


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_segments(reduce):
    x = ac.randn(5, 2, dtype=ac.float64, requires_grad=True)
    lengths = ac.tensor([2, 0, 3])
    found = ac.segment_reduce(x, reduce, lengths=lengths, initial=1.0)
    same = ac.segment_reduce(x, reduce, offsets=ac.tensor([0, 2, 2, 5]), initial=1.0)
    assert found.tolist() == same.tolist()
    assert found[1].tolist() == [1.0, 1.0]
    assert ac.autograd.gradcheck(
        lambda x: ac.segment_reduce(x, reduce, lengths=lengths, initial=1.0), x
    )
    empty = {"sum": 0, "mean": np.nan, "max": -np.inf, "min": np.inf, "prod": 1}
    plain = ac.segment_reduce(x, reduce, lengths=lengths).detach().numpy()
    np.testing.assert_array_equal(plain[1], empty[reduce])
    np.testing.assert_allclose(plain[2], getattr(x.detach().numpy()[2:], reduce)(0))


def test_wrong_segments():
    x = ac.ones(3)
    with pytest.raises(
        ShapeError, match=r"to sum to the number of rows, 3, .* sum is 4"
    ):
        ac.segment_reduce(x, "sum", lengths=ac.tensor([4]))
    with pytest.raises(ShapeError, match="must begin with 0 and end with"):
        ac.segment_reduce(x, "sum", offsets=ac.tensor([0, 2]))
    with pytest.raises(ArgumentError, match="give either `lengths` or `offsets`"):
        ac.segment_reduce(x, "sum")
    with pytest.raises(ArgumentError, match="`reduce`='median'; use 'sum'"):
        ac.segment_reduce(x, "median", lengths=ac.tensor([3]))
    with pytest.raises(ArgumentError, match="`axis` must be 0"):
        ac.segment_reduce(ac.ones(2, 3), "sum", lengths=ac.tensor([3]), axis=1)
    with pytest.raises(ShapeError, match="must be a vector of integers"):
        ac.segment_reduce(x, "sum", lengths=ac.ones(1))
