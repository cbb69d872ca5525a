# SPDX-License-Identifier: MIT
"""Text from a decoder-only transformer, one token after the other, with a cache.

AutoCalc reads with `models.generate`; a peer reads with the loop below, which is
written in the names that it shares with PyTorch and spends no operation that a careful
user would not: the cache is made once, and nothing is recorded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.worker import Run


class Model(NamedTuple):
    """Sizes of a model, and how many tokens it draws."""

    vocabulary: int
    d_model: int
    heads: int
    layers: int
    tokens: int

    def __str__(self) -> str:
        return f"generate {self.tokens}, d {self.d_model}, layers {self.layers}"


def block_type(ml: Any) -> type[Any]:
    """Return the class of a block that reads one position after its cache."""
    nn, functional = ml.nn, ml.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, sizes: Model) -> None:
            super().__init__()
            d = sizes.d_model
            self.heads, self.features = sizes.heads, d // sizes.heads
            self.norm_1, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
            shape = (1, sizes.heads, sizes.tokens, d // sizes.heads)
            self.keys, self.values = ml.zeros(shape), ml.zeros(shape)

        def forward(self, x: Any, place: int) -> Any:
            qkv = self.qkv(self.norm_1(x)).view(1, 1, 3, self.heads, self.features)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # [1, H, 1, D]
            end = place + 1
            self.keys[:, :, place:end] = k
            self.values[:, :, place:end] = v
            y = functional.scaled_dot_product_attention(
                q, self.keys[:, :, :end], self.values[:, :, :end]
            )
            x = x + self.out(y.reshape(1, 1, self.heads * self.features))
            return x + self.down(functional.gelu(self.up(self.norm_2(x))))

    return Block


def generate(sizes: Model) -> Any:
    """Return the case of a text: from one token on, each the likeliest."""
    return lambda ml: (
        _ours(ml, sizes) if ml.__name__ == "autocalc" else _loop(ml, sizes)
    )


def _ours(ml: Any, sizes: Model) -> Run:
    ml.manual_seed(0)
    model = ml.models.Decoder(
        sizes.vocabulary, sizes.tokens, sizes.d_model, sizes.heads, sizes.layers
    )
    prompt = ml.zeros(1, 1, dtype=ml.int64)
    count = sizes.tokens - 1
    return lambda: ml.models.generate(model, prompt, count, temperature=0)


def _loop(ml: Any, sizes: Model) -> Run:
    ml.manual_seed(0)
    nn, d = ml.nn, sizes.d_model
    make_block = block_type(ml)
    tokens, places = nn.Embedding(sizes.vocabulary, d), nn.Embedding(sizes.tokens, d)
    blocks = nn.ModuleList([make_block(sizes) for _ in range(sizes.layers)])
    norm, head = nn.LayerNorm(d), nn.Linear(d, sizes.vocabulary, bias=False)

    def run() -> object:
        with ml.inference_mode():
            token = ml.zeros(1, 1, dtype=ml.int64)
            text = [token]
            for place in range(sizes.tokens - 1):
                x = tokens(token) + places.weight[place]
                for block in blocks:
                    x = block(x, place)
                token = head(norm(x)).argmax(-1)
                text.append(token)
            return ml.cat(text, 1)

    return run
