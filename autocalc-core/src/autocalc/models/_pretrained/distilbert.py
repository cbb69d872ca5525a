# SPDX-License-Identifier: MIT
"""DistilBERT: BERT without segments, with half of the layers.

Sanh et al.: DistilBERT, a distilled version of BERT (2019).
"""

from __future__ import annotations

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.encoder import (
    Encoder,
    EncoderAttention,
    classes_of,
    positions_of,
)
from autocalc.models._pretrained.parts import ACTIVATIONS

_EPS = 1e-12


class Embeddings(nn.Module):
    """The sum of the vectors of token and position, after a norm."""

    def __init__(self, vocabulary: int, context: int, d: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, d)
        self.position_embeddings = nn.Embedding(context, d)
        self.LayerNorm = nn.LayerNorm(d, eps=_EPS)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return vectors (B, S, d) of tokens (B, S)."""
        x = self.word_embeddings(tokens)
        out: Tensor = self.LayerNorm(x + self.position_embeddings(positions_of(tokens)))
        return out


class SelfAttention(EncoderAttention):
    """Attention with its products."""

    def __init__(self, config: Config, d: int, heads: int) -> None:
        super().__init__(config, d, heads)
        self.q_lin, self.k_lin, self.v_lin = (nn.Linear(d, d) for _ in range(3))
        self.out_lin = nn.Linear(d, d)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        y = self.mix(self.q_lin(x), self.k_lin(x), self.v_lin(x), seen)
        out: Tensor = self.out_lin(y)
        return out


class FeedForward(nn.Module):
    """Feed-forward part: y = f(x W_1^T + b_1) W_2^T + b_2."""

    def __init__(self, d: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        self.lin1, self.lin2 = nn.Linear(d, hidden), nn.Linear(hidden, d)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.lin2(ACTIVATIONS[self.activation](self.lin1(x)))
        return out


class DistilBertLayer(nn.Module):
    """A layer: x = Norm(x + Attention(x)); x = Norm(x + FeedForward(x))."""

    def __init__(self, config: Config, d: int, heads: int, activation: str) -> None:
        super().__init__()
        self.attention = SelfAttention(config, d, heads)
        self.sa_layer_norm = nn.LayerNorm(d, eps=_EPS)
        self.ffn = FeedForward(d, config.size("hidden_dim", 4 * d), activation)
        self.output_layer_norm = nn.LayerNorm(d, eps=_EPS)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        x = self.sa_layer_norm(self.attention(x, seen) + x)
        out: Tensor = self.output_layer_norm(self.ffn(x) + x)
        return out


class Layers(nn.Module):
    """All layers."""

    def __init__(self, layers: list[DistilBertLayer]) -> None:
        super().__init__()
        self.layer = nn.ModuleList(layers)


class Body(nn.Module):
    """The encoder without a head."""

    def __init__(self, embeddings: Embeddings, layers: list[DistilBertLayer]) -> None:
        super().__init__()
        self.embeddings, self.transformer = embeddings, Layers(layers)

    def forward(self, tokens: Tensor, seen: Tensor | None) -> Tensor:
        """Return features (B, S, d) of tokens (B, S)."""
        x: Tensor = self.embeddings(tokens)
        for layer in self.transformer.layer:
            x = layer(x, seen)
        return x


class DistilBert(Encoder):
    """DistilBERT with or without a head."""

    body = "distilbert."

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        config.needs("sinusoidal_pos_embds", False)
        self.head = self.kind(config)
        d, heads = config.size("dim"), config.size("n_heads")
        self.activation = config.choice("activation", ACTIVATIONS, "gelu")
        vocabulary = config.size("vocab_size")
        self.context = config.size("max_position_embeddings", 512)
        self.distilbert = Body(
            Embeddings(vocabulary, self.context, d),
            [
                DistilBertLayer(config, d, heads, self.activation)
                for _ in range(config.layers("n_layers"))
            ],
        )
        if self.head == "ForMaskedLM":
            self.vocab_transform = nn.Linear(d, d)
            self.vocab_layer_norm = nn.LayerNorm(d, eps=_EPS)
            self.vocab_projector = nn.Linear(d, vocabulary)
        elif self.head == "ForSequenceClassification":
            self.pre_classifier = nn.Linear(d, d)
            self.classifier = nn.Linear(d, classes_of(config))

    def tie(self) -> None:
        """Use the table of tokens in the head for masked tokens."""
        if self.head == "ForMaskedLM" and self.config.get("tie_word_embeddings", True):
            table = self.distilbert.embeddings.word_embeddings
            self.vocab_projector.weight = table.weight

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return features (B, S, d) or logits for `tokens` (B, S).

        `mask` (B, S) is False for padding.
        """
        x: Tensor = self.distilbert(tokens, self.checked(tokens, mask))
        if self.head == "ForMaskedLM":
            x = ACTIVATIONS[self.activation](self.vocab_transform(x))
            x = self.vocab_projector(self.vocab_layer_norm(x))
        elif self.head == "ForSequenceClassification":
            x = self.classifier(self.pre_classifier(x[:, 0]).relu())
        return x
