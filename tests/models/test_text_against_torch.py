# SPDX-License-Identifier: MIT
"""A classifier of sentences, trained like PyTorch's: embeddings, norms, clipping."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

WORDS, WIDTH, CLASSES, LENGTH = 40, 12, 3, 9


def model(library):
    nn = library.nn
    return nn.Sequential(
        nn.Embedding(WORDS, WIDTH, padding_idx=0), nn.LayerNorm(WIDTH),
        nn.Linear(WIDTH, 24), nn.GELU(), nn.RMSNorm(24), nn.Linear(24, WIDTH),
        nn.SiLU(), nn.Flatten(), nn.LayerNorm(LENGTH * WIDTH),
        nn.Linear(LENGTH * WIDTH, 16), nn.Softplus(), nn.Linear(16, CLASSES),
    ).double()  # fmt: skip


def batch(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, WORDS, (16, LENGTH))
    x[rng.random(x.shape) < 0.2] = 0
    return x, x.sum(1) % CLASSES


def train(library, net, optimizer):
    """Return loss and gradient norm of each step."""
    seen = []
    for step in range(40):
        x, t = (library.tensor(array) for array in batch(step))
        optimizer.zero_grad()
        loss = library.nn.functional.cross_entropy(net(x), t)
        loss.backward()
        norm = library.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        seen.append((loss.item(), norm.item()))
    return seen


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("RMSprop", {"lr": 1e-3, "momentum": 0.5, "eps": 1e-4}),
        ("AdamW", {"lr": 3e-3, "eps": 1e-6}),
    ],
)
def test_forty_steps(name, settings):
    torch.manual_seed(0)
    ours, theirs = model(ac), model(torch)
    state = {key: ac.tensor(t.numpy()) for key, t in theirs.state_dict().items()}
    assert list(ours.state_dict()) == list(state)
    ours.load_state_dict(state)
    assert repr(ours) == repr(theirs)
    mine = train(ac, ours, getattr(ac.optim, name)(ours.parameters(), **settings))
    yours = train(
        torch, theirs, getattr(torch.optim, name)(theirs.parameters(), **settings)
    )
    np.testing.assert_allclose(mine, yours, rtol=1e-7)
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(
            ours.state_dict()[key].numpy(), value.numpy(), rtol=1e-6, atol=1e-9
        )
