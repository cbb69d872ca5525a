# SPDX-License-Identifier: MIT
"""A trained model is saved to a buffer and predicts from it in two bytes a number."""

import io
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight


class SwiGLU(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Model(nn.Module):
    def __init__(self, words=11, dim=16, depth=2):
        super().__init__()
        self.embedding = nn.Embedding(words, dim)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                OrderedDict([("norm", RMSNorm(dim)), ("ffn", SwiGLU(dim, 24))])
            )
            for _ in range(depth)
        )
        self.norm = RMSNorm(dim)
        self.output = nn.Linear(dim, words, bias=False)

    def forward(self, tokens):
        h = self.embedding(tokens)
        # Each place sees the mean of the places before it.
        steps = torch.arange(1, h.size(1) + 1, dtype=h.dtype)
        h = h + h.cumsum(dim=1) / steps[:, None]
        for block in self.blocks:
            h = h + block(h)
        return self.output(self.norm(h))


def sequences(count, length=8):
    rng = np.random.default_rng(31)
    start, step = rng.integers(0, 11, count), rng.integers(1, 4, count)
    rows = (start[:, None] + step[:, None] * np.arange(length + 1)) % 11
    rows = torch.from_numpy(rows)
    return rows[:, :-1], rows[:, 1:]


def initialise(model):
    rng = np.random.default_rng(30)
    for p in model.parameters():
        if p.ndim == 2:
            p.data = torch.as_tensor(rng.normal(0, 0.2, tuple(p.shape))).float()


def loss_of(model, tokens, targets):
    logits = model(tokens).float()
    return F.cross_entropy(logits.flatten(0, 1), targets.reshape(-1))


def main():
    model = Model()
    initialise(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.01)
    tokens, targets = sequences(32)
    losses = []
    for step in range(30):
        loss = loss_of(model, tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step == 19:
            checkpoint = io.BytesIO()
            entries = {"step": step, "best": losses[-1], "name": "small"}
            entries["model"] = model.state_dict()
            entries["optimizer"] = optimizer.state_dict()
            torch.save(entries, checkpoint)

    # The training goes on from the checkpoint as it went on.
    checkpoint.seek(0)
    loaded = torch.load(checkpoint, map_location="cpu", weights_only=True)
    assert (loaded["step"], loaded["name"]) == (19, "small")
    again = Model()
    again.load_state_dict(loaded["model"])
    optimizer = torch.optim.AdamW(again.parameters(), lr=1e-2, weight_decay=0.01)
    optimizer.load_state_dict(loaded["optimizer"])
    for step in range(20, 30):
        loss = loss_of(again, tokens, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert loss.item() == losses[step]

    buffer = io.BytesIO()
    torch.save({k: v.to(torch.bfloat16) for k, v in again.state_dict().items()}, buffer)
    sizes = []
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        buffer.seek(0)
        state = torch.load(buffer)
        assert {v.dtype for v in state.values()} == {torch.bfloat16}
        reader = Model().to(dtype)
        reader.load_state_dict(state)
        reader.eval()
        with torch.inference_mode():
            assert reader(tokens).dtype == dtype
            losses.append(loss_of(reader, tokens, targets).item())
        total = sum(p.nelement() * p.element_size() for p in reader.parameters())
        sizes.append(total / 1024)
    assert sizes[1] == sizes[2] == sizes[0] / 2
    return losses + sizes


if __name__ == "__main__":
    print(main())
