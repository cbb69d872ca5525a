# SPDX-License-Identifier: MIT
"""BERT, also as the body of sentence models such as MiniLM.

Devlin et al.: BERT (2019).  A layer computes, with a norm after each sum::

    x = Norm(x + Attention(x))
    x = Norm(x + f(x W_1^T + b_1) W_2^T + b_2)
"""

from __future__ import annotations

from collections.abc import Collection

from autocalc import nn
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.like import zeros_like
from autocalc._tensor import Tensor
from autocalc.errors import ModuleError
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.encoder import (
    Encoder,
    EncoderAttention,
    classes_of,
    positions_of,
)
from autocalc.models._pretrained.parts import ACTIVATIONS
from autocalc.nn import functional


class Embeddings(nn.Module):
    """The sum of the vectors of token, position and segment, after a norm."""

    def __init__(self, config: Config, d: int, context: int, eps: float) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.size("vocab_size"), d)
        self.position_embeddings = nn.Embedding(context, d)
        segments = config.size("type_vocab_size", 2)
        self.token_type_embeddings = nn.Embedding(segments, d)
        self.LayerNorm = nn.LayerNorm(d, eps=eps)

    def forward(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """Return vectors (B, S, d) of tokens (B, S)."""
        segments = zeros_like(tokens) if segments is None else segments
        x = self.word_embeddings(tokens) + self.token_type_embeddings(segments)
        x = x + self.position_embeddings(positions_of(tokens))
        out: Tensor = self.LayerNorm(x)
        return out


class SelfAttention(EncoderAttention):
    """The products before attention, and attention."""

    def __init__(self, config: Config, d: int, heads: int) -> None:
        super().__init__(config, d, heads)
        self.query, self.key, self.value = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """Return the result (B, S, d) for the input (B, S, d)."""
        return self.mix(self.query(x), self.key(x), self.value(x), seen)


class Output(nn.Module):
    """A linear layer, a sum and a norm."""

    def __init__(self, width: int, d: int, eps: float) -> None:
        super().__init__()
        self.dense, self.LayerNorm = nn.Linear(width, d), nn.LayerNorm(d, eps=eps)

    def forward(self, y: Tensor, x: Tensor) -> Tensor:
        """Return Norm(x + y W^T + b)."""
        out: Tensor = self.LayerNorm(self.dense(y) + x)
        return out


class BertAttention(nn.Module):
    """Attention with its sum and norm."""

    def __init__(self, config: Config, d: int, heads: int, eps: float) -> None:
        super().__init__()
        self.self = SelfAttention(config, d, heads)
        self.output = Output(d, d, eps)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.output(self.self(x, seen), x)
        return out


class Dense(nn.Module):
    """A linear layer and an activation."""

    def __init__(self, d: int, width: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        self.dense = nn.Linear(d, width)

    def forward(self, x: Tensor) -> Tensor:
        """Return f(x W^T + b)."""
        out: Tensor = ACTIVATIONS[self.activation](self.dense(x))
        return out


class BertLayer(nn.Module):
    """A layer: attention and a feed-forward part."""

    def __init__(self, config: Config, d: int, heads: int, eps: float) -> None:
        super().__init__()
        hidden = config.size("intermediate_size")
        activation = config.choice("hidden_act", ACTIVATIONS, "gelu")
        self.attention = BertAttention(config, d, heads, eps)
        self.intermediate = Dense(d, hidden, activation)
        self.output = Output(hidden, d, eps)

    def forward(self, x: Tensor, seen: Tensor | None) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        x = self.attention(x, seen)
        out: Tensor = self.output(self.intermediate(x), x)
        return out


class Layers(nn.Module):
    """All layers."""

    def __init__(self, layers: list[BertLayer]) -> None:
        super().__init__()
        self.layer = nn.ModuleList(layers)


class Pooler(nn.Module):
    """The vector of a text: tanh(x_0 W^T + b), from that of its first token."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.dense = nn.Linear(d, d)

    def forward(self, x: Tensor) -> Tensor:
        """Return vectors (B, d) of texts (B, S, d)."""
        out: Tensor = self.dense(x[:, 0]).tanh()
        return out


class BertBody(nn.Module):
    """The encoder without a head."""

    def __init__(self, config: Config, pooled: bool) -> None:
        super().__init__()
        config.needs("position_embedding_type", "absolute")
        config.needs("is_decoder", False)
        d, heads = config.size("hidden_size"), config.size("num_attention_heads")
        eps = config.number("layer_norm_eps", 1e-12)
        context = config.size("max_position_embeddings", 512)
        self.embeddings = Embeddings(config, d, context, eps)
        count = config.layers("num_hidden_layers")
        self.encoder = Layers([BertLayer(config, d, heads, eps) for _ in range(count)])
        self.pooler = Pooler(d) if pooled else None

    def forward(
        self, tokens: Tensor, seen: Tensor | None, segments: Tensor | None
    ) -> Tensor:
        """Return features (B, S, d) of tokens (B, S)."""
        x: Tensor = self.embeddings(tokens, segments)
        for layer in self.encoder.layer:
            x = layer(x, seen)
        return x


class Transform(nn.Module):
    """The part of the head before the table of tokens: Norm(f(x W^T + b))."""

    def __init__(self, d: int, activation: str, eps: float) -> None:
        super().__init__()
        self.activation = activation
        self.dense, self.LayerNorm = nn.Linear(d, d), nn.LayerNorm(d, eps=eps)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.LayerNorm(ACTIVATIONS[self.activation](self.dense(x)))
        return out


class Predictions(nn.Module):
    """The head for masked tokens; its weight is the table of tokens."""

    def __init__(self, config: Config, d: int, vocabulary: int) -> None:
        super().__init__()
        activation = config.choice("hidden_act", ACTIVATIONS, "gelu")
        eps = config.number("layer_norm_eps", 1e-12)
        self.transform = Transform(d, activation, eps)
        self.bias = nn.Parameter(zeros(vocabulary))


class MaskedHead(nn.Module):
    """The place of the head in files."""

    def __init__(self, predictions: Predictions) -> None:
        super().__init__()
        self.predictions = predictions


class Bert(Encoder):
    """BERT with or without a head."""

    body = "bert."

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.head = self.kind(config)
        body = BertBody(config, pooled=self.head != "ForMaskedLM")
        self.bert = body
        d, self.context = body.embeddings.position_embeddings.weight.shape[::-1]
        if self.head == "ForMaskedLM":
            config.needs("tie_word_embeddings", True)
            vocabulary = config.size("vocab_size")
            self.cls = MaskedHead(Predictions(config, d, vocabulary))
        elif self.head == "ForSequenceClassification":
            self.classifier = nn.Linear(d, classes_of(config))

    def adapt(self, found: Collection[str]) -> None:
        """Leave out the pooler, if the files have none."""
        last = "pooler.dense.weight"
        if self.head == "Model" and not {last, self.body + last} & set(found):
            self.bert.pooler = None

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, segments: Tensor | None = None
    ) -> Tensor:
        """Return features (B, S, d) or logits for `tokens` (B, S).

        `mask` (B, S) is False for padding; `segments` (B, S) numbers the parts of a
        text.
        """
        x: Tensor = self.bert(tokens, self.checked(tokens, mask), segments)
        if self.head == "ForSequenceClassification":
            out: Tensor = self.classifier(self.pool(x))
            return out
        return self._masked(x) if self.head == "ForMaskedLM" else x

    def pool(self, x: Tensor) -> Tensor:
        """Return vectors (B, d) of texts with the features (B, S, d)."""
        if self.bert.pooler is None:
            raise ModuleError(
                "Bert.pool: the folder of this model has no pooler; use the mean of "
                "the features, or those of the first token."
            )
        out: Tensor = self.bert.pooler(x)
        return out

    def _masked(self, x: Tensor) -> Tensor:
        predictions = self.cls.predictions
        table = self.bert.embeddings.word_embeddings.weight
        return functional.linear(predictions.transform(x), table, predictions.bias)
