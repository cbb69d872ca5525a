# SPDX-License-Identifier: MIT
"""The cross-entropy of a linear layer, in chunks; `tests/models` asks PyTorch."""

from __future__ import annotations

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import GradError
from autocalc.nn._functional import linear_cross_entropy as module
from autocalc.testing import gradcheck, gradgradcheck

F = nn.functional
Options = nn.LinearCrossEntropyOptions


def tensors(n=7, classes=9, features=4, positions=()):
    ac.manual_seed(0)
    x = ac.randn(n, features, dtype=ac.float64, requires_grad=True)
    w = ac.randn(classes, *positions, features, dtype=ac.float64, requires_grad=True)
    b = ac.randn(classes, *positions, dtype=ac.float64, requires_grad=True)
    return x, w, b


def gradients(loss, leaves):
    return [loss, *ac.autograd.grad(loss.sum(), leaves)]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("positions", [(), (2, 3)])
@pytest.mark.parametrize(
    "words",
    [
        {},
        {"weight": ac.linspace(0.5, 2, 9, dtype=ac.float64), "label_smoothing": 0.1},
        {"ignore_index": 3},
        {"ignore_index": 3, "weight": ac.linspace(0.5, 2, 9, dtype=ac.float64)},
    ],
)
def test_chunks_give_what_the_whole_gives(reduction, positions, words):
    leaves = tensors(positions=positions)
    x, w, b = leaves
    labels = ac.randint(9, (7, *positions))
    labels.reshape(-1)[:2] = 3
    words = {**words, "reduction": reduction}
    logits = F.linear(x, w.reshape(-1, 4), b.reshape(-1)).reshape(7, *w.shape[:-1])
    expected = gradients(F.cross_entropy(logits, labels, **words), leaves)
    for options in (None, Options(batch_chunk_size=2), Options(batch_chunk_size=20)):
        loss = F.linear_cross_entropy(
            x, w, labels, linear_bias=b, options=options, **words
        )
        for mine, other in zip(gradients(loss, leaves), expected, strict=True):
            assert ac.allclose(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_chunks_of_probabilities(reduction):
    x, w, _ = leaves = tensors()
    q = ac.randn(7, 9, dtype=ac.float64).softmax(1)
    expected = gradients(
        F.cross_entropy(x @ w.T, q, reduction=reduction, label_smoothing=0.2),
        leaves[:2],
    )
    loss = F.linear_cross_entropy(
        x, w, q, reduction=reduction, label_smoothing=0.2,
        options=Options(batch_chunk_size=3),
    )  # fmt: skip
    for mine, other in zip(gradients(loss, leaves[:2]), expected, strict=True):
        assert ac.allclose(mine, other, rtol=1e-12, atol=1e-12)


def test_one_row_without_a_batch():
    x, w, b = tensors(1)
    loss = F.linear_cross_entropy(
        x[0], w, ac.tensor(4), linear_bias=b, options=Options()
    )
    assert ac.allclose(loss, F.cross_entropy(x[0] @ w.T + b, ac.tensor(4)))


def test_logits_of_all_rows_are_never_there(monkeypatch):
    seen, linear = [], module.matmul.linear

    def watched(*args):
        out = linear(*args)
        seen.append(out.shape)
        return out

    monkeypatch.setattr(module.matmul, "linear", watched)
    x, w, _ = tensors(7)
    loss = F.linear_cross_entropy(
        x, w, ac.zeros(7, dtype=ac.int64), options=Options(batch_chunk_size=3)
    )
    loss.backward()
    assert seen == [(3, 9), (3, 9), (1, 9)]  # gradients come with the loss


def test_a_chunk_has_sixteen_million_logits():
    assert Options().rows(4096, 768, 50257) == (1 << 24) // 50257
    assert Options().rows(4096, 768, 1 << 25) == 1


@pytest.mark.parametrize("keeps", [False, True])
def test_a_second_backward_pass_gives_the_same_bits(keeps):
    x, w, b = leaves = tensors(7)
    options = Options(batch_chunk_size=2, allow_retain_graph=keeps)
    loss = F.linear_cross_entropy(x, w, ac.arange(7), linear_bias=b, options=options)
    first, second = (
        ac.autograd.grad(loss * 3, leaves, retain_graph=True) for _ in range(2)
    )
    for a, b in zip(first, second, strict=True):
        assert a.tolist() == b.tolist()


def test_parts_without_a_gradient():
    x, w, b = tensors(7)
    options, labels = Options(batch_chunk_size=2), ac.arange(7)
    for i in range(3):
        parts = [p.detach().requires_grad_(j == i) for j, p in enumerate((x, w, b))]
        loss = F.linear_cross_entropy(
            parts[0], parts[1], labels, linear_bias=parts[2], options=options
        )
        (found,) = ac.autograd.grad(loss, parts[i])
        whole = F.cross_entropy(F.linear(x, w, b), labels)
        (wanted,) = ac.autograd.grad(whole, (x, w, b)[i])
        assert ac.allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_a_compiled_step_and_one_under_autocast():
    ac.manual_seed(0)
    x, w = ac.randn(8, 4), ac.randn(9, 4, requires_grad=True)
    labels, options = ac.arange(8), Options(batch_chunk_size=3)

    def step(options):
        w.grad = None
        loss = F.linear_cross_entropy(x, w, labels, options=options)
        loss.backward()
        return loss.detach(), w.grad

    compiled = ac.compile(step)
    wanted = step(None)
    for _ in range(5):
        for a, b in zip(compiled(options), wanted, strict=True):
            assert ac.allclose(a, b, rtol=1e-6, atol=1e-6)
    with ac.autocast("cpu"):
        loss, gradient = step(options)
        whole, expected = step(None)
    assert (loss.dtype, gradient.dtype) == (ac.float32, ac.float32)
    assert ac.allclose(loss, whole, rtol=1e-6)
    assert ac.allclose(gradient, expected, rtol=0.02, atol=0.02)


def test_gradients_of_every_order():
    labels = ac.tensor([1, 0, 4, 2, 2])

    def loss(x, w, b):
        return F.linear_cross_entropy(
            x, w, labels, linear_bias=b, options=Options(batch_chunk_size=2)
        )

    leaves = tensors(5, 5, 2)
    assert gradcheck(loss, leaves)
    assert gradgradcheck(loss, leaves)
    x, w, b = leaves
    once = loss(x, w, b)
    once.backward(retain_graph=True)
    first = w.grad.clone()
    once.backward()
    assert ac.allclose(w.grad, 2 * first)


def test_without_gradients_nothing_is_kept():
    x, w, _ = tensors()
    with ac.no_grad():
        loss = F.linear_cross_entropy(
            x, w, ac.arange(7), options=Options(batch_chunk_size=2)
        )
    assert not loss.requires_grad
    weight = ac.ones(9, dtype=ac.float64, requires_grad=True)
    with pytest.raises(GradError, match="`weight` requires a gradient"):
        F.linear_cross_entropy(x, w, ac.arange(7), weight=weight)


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        (Options(), 100),
        (Options(chunking_method="aspect_ratio:2"), 16),
        (Options(chunking_method="aspect_ratio"), 32),
        (Options(chunking_method="aspect_ratio:8"), 4),
        (Options(chunking_method="aspect_ratio:1000"), 1),
        (Options(chunking_method=None), 100),
        (Options(batch_chunk_size=30), 30),
        (Options(batch_chunk_size=300), 100),
        (Options(batch_chunk_size=4, chunking_method="aspect_ratio:8"), 4),
    ],
)
def test_rows_of_a_chunk(options, rows):
    """100 rows, 8 features, 32 classes: a chunk's logits are as large at 25 rows."""
    assert options.rows(100, 8, 32) == rows


def test_the_layer():
    layer = nn.LinearCrossEntropyLoss(
        4, 9, out_features=(2,), bias=True, dtype=ac.float64,
        weight=ac.ones(9, dtype=ac.float64), options=Options(batch_chunk_size=2),
    )  # fmt: skip
    assert list(layer.state_dict()) == ["weight", "linear.weight", "linear.bias"]
    assert layer.linear.weight.shape == (18, 4)
    x, labels = tensors()[0], ac.randint(9, (7, 2))
    logits = layer.linear(x).reshape(7, 9, 2)
    assert ac.allclose(layer(x, labels), F.cross_entropy(logits, labels))
    assert "in_features=4, num_classes=9, out_features=(2,), bias=True" in repr(layer)


X, W, T = ac.ones(3, 2), ac.ones(5, 2), ac.zeros(3, dtype=ac.int64)


test_impossible_calls = refusals(
    r"""
    F.linear_cross_entropy(X, W[:, :1], T) -> ShapeError: expected equal
        input and linear_weight last .* \(in_features\), got 2 and 1, respectively
    F.linear_cross_entropy(X[0], ac.ones(5, 3, 2), T) -> ShapeError: or \(N, F\) and
        \(C,
    F.linear_cross_entropy(X, W[0], T) -> ShapeError: they must be
    F.linear_cross_entropy(X, W, T, linear_bias=ac.ones(4)) -> ShapeError: `linear_bias`
        has shape \(4,\); for .* it must have shape \(5,\)
    F.linear_cross_entropy(X, W, ac.ones(3, 5), ignore_index=2) -> ArgumentError:
        linear_cross_entropy: `ignore_index`=2 was given with a `target` of
    F.linear_cross_entropy(X, W, T + 5) -> KernelDataError: cross_entropy
    F.linear_cross_entropy(X, W, T[:2], options=Options(batch_chunk_size=1)) ->
        ShapeError: `target` has shape \(2,\) for 3 rows of `input`; its first size must
    F.linear_cross_entropy(X, W, T[:2]) -> ShapeError: `target`
    F.linear_cross_entropy(X, W, T, reduction='x') -> ArgumentError:
        linear_cross_entropy: `reduction`='x'; use 'mean', 'sum' or 'none'
    F.linear_cross_entropy(X, W, T, label_smoothing=2) -> ArgumentError:
        must be between 0.0 and 1.0, not 2
    F.linear_cross_entropy(X, W, T, options=3) -> DTypeError: `options` is 3; it must be
        a LinearCrossEntropyOptions or None
    F.linear_cross_entropy(X.long(), W, T) -> DTypeError: linear_cross_entropy: needs
        float32 or float64, not int64: it is not
    Options(chunking_method='aspect_ratio:0') -> ArgumentError: `chunking_method` is
        'aspect_ratio:0'; it must be None, 'auto'
    Options(chunking_method=3) -> ArgumentError: `chunking_method` is 3
    Options(batch_chunk_size=0) -> ArgumentError: `batch_chunk_size` is 0; it must be 1
        or more
    Options(acc_policy='x') -> ArgumentError: `acc_policy`='x'; use 'au
    Options(acc_dtype=ac.int64) -> ArgumentError: `acc_dtype` is int64
    Options(allow_retain_graph=3) -> ArgumentError: `allow_retain_graph` is 3
    F.linear_cross_entropy(X, W, T, options=Options(batch_chunk_size=2,
        chunking_method='aspect_ratio')) -> ArgumentError: `batch_chunk_size` is 2,
        but `chunking_method`='aspect_ratio' gives 1
    nn.LinearCrossEntropyLoss(2, 5, weight=ac.ones(4)) -> ShapeError:
        LinearCrossEntropyLoss: expected weight shape to be \(5,\), got \(4,\)
    nn.LinearCrossEntropyLoss(2, 5, label_smoothing=2) -> ArgumentError:
        LinearCrossEntropyLoss: expected label_smoothing to be in range \[0, 1\], got 2
    nn.LinearCrossEntropyLoss(2, -5) -> ArgumentError: `num_classes` is -5; it must be
        an integer, 0 or more
    nn.LinearCrossEntropyLoss(2, 5, bias=3) -> ArgumentError: LinearCrossEntropyLoss:
        `bias` is 3
    """,
    globals(),
)
