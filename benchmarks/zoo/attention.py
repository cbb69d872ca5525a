# SPDX-License-Identifier: MIT
"""Models of tokens: GPT, BERT, vision transformer, MLP-mixer.

Radford and others: Language models are unsupervised multitask learners (2019); Devlin
and others: BERT (2018); Dosovitskiy and others: An image is worth 16x16 words (2020);
Tolstikhin and others: MLP-Mixer (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.zoo.work import Make, Work, classes

VOCABULARY = 1000


def block_type(ml: Any) -> type[Any]:
    """Return the class of a block with the norm first, as GPT and ViT have it."""
    nn, functional = ml.nn, ml.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, d: int, heads: int, causal: bool) -> None:
            super().__init__()
            self.heads, self.causal = heads, causal
            self.norm_1, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.mlp = nn.Sequential(
                nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)
            )

        def forward(self, x: Any) -> Any:
            batch, seq, d = x.shape
            qkv = self.qkv(self.norm_1(x)).reshape(batch, seq, 3, self.heads, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
            x = x + self.out(y.permute(0, 2, 1, 3).reshape(batch, seq, d))
            return x + self.mlp(self.norm_2(x))

    return Block


def embedding_type(ml: Any) -> type[Any]:
    """Return the class that adds embeddings of tokens and of their places."""
    nn = ml.nn

    class Embeddings(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, seq: int, d: int) -> None:
            super().__init__()
            self.tokens, self.places = nn.Embedding(VOCABULARY, d), nn.Embedding(seq, d)
            self.register_buffer("place", ml.arange(seq))

        def forward(self, text: Any) -> Any:
            return self.tokens(text) + self.places(self.place)

    return Embeddings


def gpt(
    batch: int, seq: int, d: int, heads: int, layers: int, tied: float | None = None
) -> Make:
    """Return the work of a decoder: the next token at each place.

    With `tied` the head is the embedding, which has this deviation.
    """

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        nn, block = ml.nn, block_type(ml)
        blocks = [block(d, heads, True) for _ in range(layers)]
        top = nn.LayerNorm(d), nn.Linear(d, VOCABULARY, bias=False)
        model = nn.Sequential(embedding_type(ml)(seq, d), *blocks, *top)
        if tied is not None:
            model[-1].weight = model[0].tokens.weight
            nn.init.normal_(model[-1].weight, std=tied)
        text = ml.randint(0, VOCABULARY, (batch, seq))
        return Work(model, (text,), classes(ml, batch, seq, count=VOCABULARY))

    return make


def bert(batch: int, seq: int, d: int, heads: int, layers: int) -> Make:
    """Return the work of an encoder with the norm last: a token at each place."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        nn = ml.nn
        blocks = [
            nn.TransformerEncoderLayer(d, heads, 4 * d, 0.1, "gelu", batch_first=True)
            for _ in range(layers)
        ]
        first = embedding_type(ml)(seq, d), nn.LayerNorm(d), nn.Dropout(0.1)
        model = nn.Sequential(*first, *blocks, nn.Linear(d, VOCABULARY))
        text = ml.randint(0, VOCABULARY, (batch, seq))
        return Work(model, (text,), classes(ml, batch, seq, count=VOCABULARY))

    return make


def patches_type(ml: Any) -> type[Any]:
    """Return the class that makes a token of each patch of an image."""
    nn = ml.nn

    class Patches(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, d: int, patch: int, places: int) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, d, patch, patch)
            self.places = nn.Parameter(0.02 * ml.randn(1, places, d))

        def forward(self, images: Any) -> Any:
            return self.conv(images).flatten(2).transpose(1, 2) + self.places

    return Patches


def mean_type(ml: Any) -> type[Any]:
    """Return the class of the mean over tokens."""

    class Mean(ml.nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def forward(self, x: Any) -> Any:
            return x.mean(1)

    return Mean


def mixer_type(ml: Any) -> type[Any]:
    """Return the class of a mixer's block: an MLP over tokens, one over channels."""
    nn = ml.nn

    class Mixer(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, d: int, tokens: int) -> None:
            super().__init__()
            self.norm_1, self.norm_2 = nn.LayerNorm(d), nn.LayerNorm(d)
            self.over_tokens = nn.Sequential(
                nn.Linear(tokens, d // 2), nn.GELU(), nn.Linear(d // 2, tokens)
            )
            self.over_channels = nn.Sequential(
                nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d)
            )

        def forward(self, x: Any) -> Any:
            y = self.over_tokens(self.norm_1(x).transpose(1, 2))
            x = x + y.transpose(1, 2)
            return x + self.over_channels(self.norm_2(x))

    return Mixer


def of_patches(batch: int, d: int, layers: int, heads: int | None) -> Make:
    """Return the work of a ViT or, without heads, a mixer: 8 x 8 patches of 4 x 4."""

    def make(ml: Any, lay: Callable[[Any], Any]) -> Work:
        nn, tokens = ml.nn, 64
        if heads is None:
            blocks = [mixer_type(ml)(d, tokens) for _ in range(layers)]
        else:
            blocks = [block_type(ml)(d, heads, False) for _ in range(layers)]
        top = nn.LayerNorm(d), mean_type(ml)(), nn.Linear(d, 10)
        model = nn.Sequential(patches_type(ml)(d, 4, tokens), *blocks, *top)
        images = lay(ml.randn(batch, 3, 32, 32))
        return Work(lay(model), (images,), classes(ml, batch))

    return make
