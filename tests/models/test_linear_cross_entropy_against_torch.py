# SPDX-License-Identifier: MIT
"""The cross-entropy of a linear layer: PyTorch's values and gradients, in float64."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def losses(words, positions=(), *, size=None, spread=False):
    """Return loss and gradients of both libraries, with chunks of `size` rows."""
    labels = np.random.default_rng(1).integers(0, 9, (7, *positions))
    spread_out = np.random.default_rng(2).dirichlet(np.ones(9), 7)
    found = []
    for m in (ac, torch):
        x, w, b = (
            m.tensor(normal(*shape, seed=i), requires_grad=True)
            for i, shape in enumerate([(7, 4), (9, *positions, 4), (9, *positions)])
        )
        more = {k: m.tensor(v) if k == "weight" else v for k, v in words.items()}
        if size is not None:
            more["options"] = m.nn.LinearCrossEntropyOptions(batch_chunk_size=size)
        loss = m.nn.functional.linear_cross_entropy(
            x, w, m.tensor(spread_out if spread else labels), linear_bias=b, **more
        )
        loss.sum().backward()
        found.append([loss.detach(), x.grad, w.grad, b.grad])
    return zip(*found, strict=True)


WEIGHT = {"weight": np.linspace(0.5, 2, 9)}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("size", [None, 1, 3, 7, 20])
@pytest.mark.parametrize("words", [{}, WEIGHT, {"ignore_index": 4}])
def test_labels(reduction, size, words):
    for mine, theirs in losses({**words, "reduction": reduction}, size=size):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.filterwarnings("ignore:linear_cross_entropy.*ignored:UserWarning")
@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize(
    ("words", "how"),
    [
        ({"label_smoothing": 0.3, **WEIGHT}, {}),
        ({"reduction": "none"}, {"positions": (2, 3)}),
        ({"ignore_index": 4, **WEIGHT}, {"positions": (2,)}),
        ({"label_smoothing": 0.3}, {"spread": True}),
        (WEIGHT, {"spread": True}),
    ],
)
def test_what_pytorch_does_not_cut_into_chunks(size, words, how):
    for mine, theirs in losses(words, size=size, **how):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


def test_the_layer():
    build = [
        m.nn.LinearCrossEntropyLoss(4, 9, out_features=(2,), bias=True).double()
        for m in (ac, torch)
    ]
    state = {k: ac.tensor(v.numpy()) for k, v in build[1].state_dict().items()}
    assert list(build[0].state_dict()) == list(state)
    assert repr(build[0]) == repr(build[1])
    build[0].load_state_dict(state)
    labels = np.random.default_rng(1).integers(0, 9, (7, 2))
    found = [
        layer(m.tensor(normal(7, 4)), m.tensor(labels)).item()
        for layer, m in zip(build, (ac, torch), strict=True)
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("method", ["aspect_ratio", "aspect_ratio:4", None])
@pytest.mark.parametrize("sizes", [(100, 8, 32), (7, 3, 1000), (64, 64, 10), (1, 1, 1)])
def test_rows_of_a_chunk(method, sizes):
    mine, theirs = (
        m.nn.LinearCrossEntropyOptions(chunking_method=method) for m in (ac, torch)
    )
    adjusted = theirs._adjust(*sizes, dtype=torch.float32)
    assert mine.rows(*sizes) == adjusted.batch_chunk_size
