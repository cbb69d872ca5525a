# SPDX-License-Identifier: MIT
"""The decoder-only transformer, trained like the same one written in PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS = 17, 12, 24, 3, 2
STEPS = 50


class Block(torch.nn.Module):
    """A block with the names of ours, so that states can be exchanged."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.norm_1, self.norm_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = nn.Module()
        self.attention.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.attention.out = nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Module()
        self.feed_forward.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.feed_forward.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        qkv = self.attention.qkv(self.norm_1(x))
        q, k, v = qkv.view(batch, length, 3, HEADS, WIDTH // HEADS).unbind(2)
        heads = (part.transpose(1, 2) for part in (q, k, v))
        y = torch.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.attention.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        up = self.feed_forward.up(self.norm_2(x))
        return x + self.feed_forward.down(torch.nn.functional.gelu(up))


class Decoder(torch.nn.Module):
    """The model."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def loss(self, tokens, targets):
        """Return the mean cross-entropy over all positions."""
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        flat = logits.view(-1, VOCABULARY)
        return torch.nn.functional.cross_entropy(flat, targets.reshape(-1))


def losses(library, model):
    """Return the loss of each step on sequences that count upwards."""
    optimizer = library.optim.AdamW(model.parameters(), lr=3e-3)
    rng = np.random.default_rng(0)
    seen = []
    for _ in range(STEPS):
        starts = rng.integers(0, VOCABULARY, (8, 1))
        text = library.tensor((starts + np.arange(CONTEXT + 1)) % VOCABULARY)
        optimizer.zero_grad()
        loss = model.loss(text[:, :-1], text[:, 1:])
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-3), ("float64", 1e-8)])
def test_losses_over_fifty_steps_agree(dtype, rtol):
    ac.manual_seed(0)
    ours = ac.models.Decoder(VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS)
    theirs = Decoder()
    state = {k: torch.from_numpy(v.numpy()) for k, v in ours.state_dict().items()}
    assert list(state) == list(theirs.state_dict())
    theirs.load_state_dict(state)
    ours.to(getattr(ac, dtype))
    theirs.to(getattr(torch, dtype))
    mine = losses(ac, ours)
    np.testing.assert_allclose(mine, losses(torch, theirs), rtol=rtol)
    assert mine[-1] < 0.3 * mine[0]
