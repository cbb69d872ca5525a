# SPDX-License-Identifier: MIT
"""A decoder-only transformer in the names that AutoCalc and PyTorch share."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.worker import Run

VOCABULARY = 17


class Sizes(NamedTuple):
    """Of a model and its batch."""

    batch: int
    seq: int
    d_model: int
    heads: int
    layers: int
    d_ff: int

    def __str__(self) -> str:
        return (
            f"LM {self.batch}x{self.seq}, d {self.d_model}, heads {self.heads}, "
            f"layers {self.layers}"
        )


def block_type(ml: Any) -> type[Any]:
    """Return the class of a block, a module of the library `ml`."""
    nn, functional = ml.nn, ml.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, sizes: Sizes) -> None:
            super().__init__()
            d = sizes.d_model
            self.heads = sizes.heads
            self.norm_1, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, sizes.d_ff), nn.Linear(sizes.d_ff, d)

        def forward(self, x: Any) -> Any:
            batch, seq, d = x.shape
            qkv = self.qkv(self.norm_1(x))
            qkv = qkv.reshape(batch, seq, 3 * self.heads, d // self.heads)
            qkv = qkv.permute(0, 2, 1, 3)
            y = functional.scaled_dot_product_attention(
                qkv[:, : self.heads],
                qkv[:, self.heads : 2 * self.heads],
                qkv[:, 2 * self.heads :],
                is_causal=True,
            )
            x = x + self.out(y.permute(0, 2, 1, 3).reshape(batch, seq, d))
            return x + self.down(functional.gelu(self.up(self.norm_2(x))))

    return Block


def step(sizes: Sizes) -> Any:
    """Return the case of a training step: causal loss at all positions, AdamW."""
    return lambda ml: _step(ml, sizes)


def _step(ml: Any, sizes: Sizes) -> Run:
    ml.manual_seed(0)
    nn, d = ml.nn, sizes.d_model
    make_block = block_type(ml)
    tokens, places = nn.Embedding(VOCABULARY, d), nn.Embedding(sizes.seq, d)
    blocks = nn.Sequential(*[make_block(sizes) for _ in range(sizes.layers)])
    top = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, VOCABULARY))
    fused = {"fused": True} if ml.__name__ == "torch" else {}
    model = nn.ModuleList([tokens, places, blocks, top])
    optimizer = ml.optim.AdamW(model.parameters(), lr=1e-3, **fused)
    text = ml.randint(0, VOCABULARY, (sizes.batch, sizes.seq + 1))
    place = ml.arange(sizes.seq)

    def run() -> object:
        optimizer.zero_grad(set_to_none=True)
        logits = top(blocks(tokens(text[:, :-1]) + places(place)))
        loss = nn.functional.cross_entropy(
            logits.reshape(-1, VOCABULARY), text[:, 1:].reshape(-1)
        )
        loss.backward()
        optimizer.step()
        return loss

    return run


def attention(seq: int, heads: int, features: int) -> Any:
    """Return the case of causal attention, forward and backward, one example."""

    def prepare(ml: Any) -> Run:
        shape = 1, heads, seq, features
        q, k, v = (ml.randn(*shape, requires_grad=True) for _ in range(3))
        cotangent = ml.randn(*shape)
        attend = ml.nn.functional.scaled_dot_product_attention

        def run() -> object:
            out = attend(q, k, v, is_causal=True)
            return ml.autograd.grad(out, (q, k, v), cotangent)

        return run

    return prepare
