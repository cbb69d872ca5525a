# SPDX-License-Identifier: MIT
"""GPT-2: layer norms before each part, learned positions, weights stored by columns.

Radford et al.: Language models are unsupervised multitask learners (2019), section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc import nn
from autocalc._ops.creation.constants import zeros
from autocalc._tensor import Tensor
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.model import CausalModel, of_cache
from autocalc.models._pretrained.parts import ACTIVATIONS, Attention, Places
from autocalc.nn import functional


class ColumnLinear(nn.Module):
    """A linear layer y = x W + b, whose weight has the shape (in, out)."""

    #: Tells other tools, such as LoRA, that rows are inputs.
    rows_are_inputs = True

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = nn.Parameter(zeros(in_features, out_features))
        self.bias = nn.Parameter(zeros(out_features))

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (..., out) for the input (..., in)."""
        return functional.linear(x, self.weight.t(), self.bias)


class GPT2Attention(Attention):
    """Attention with one product for queries, keys and values."""

    def __init__(self, d: int, heads: int, scale: float | None) -> None:
        super().__init__(heads, heads, d // heads, scale=scale)
        self.c_attn, self.c_proj = ColumnLinear(d, 3 * d), ColumnLinear(d, d)

    def forward(self, x: Tensor, places: Places, cache: KeyValueCache | None) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        q, k, v = self.c_attn(x).chunk(3, -1)
        out: Tensor = self.c_proj(self.attend(q, k, v, places, None, cache))
        return out


class GPT2MLP(nn.Module):
    """Feed-forward part: y = f(x W_1 + b_1) W_2 + b_2."""

    def __init__(self, d: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        self.c_fc, self.c_proj = ColumnLinear(d, hidden), ColumnLinear(hidden, d)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.c_proj(ACTIVATIONS[self.activation](self.c_fc(x)))
        return out


class GPT2Block(nn.Module):
    """A layer: x = x + Attention(Norm(x)); x = x + MLP(Norm(x))."""

    def __init__(self, attn: nn.Module, mlp: nn.Module, d: int, eps: float) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(d, eps=eps), nn.LayerNorm(d, eps=eps)
        self.attn, self.mlp = attn, mlp

    def forward(self, x: Tensor, places: Places, cache: KeyValueCache | None) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        x = x + self.attn(self.ln_1(x), places, cache)
        out: Tensor = x + self.mlp(self.ln_2(x))
        return out


class GPT2Body(nn.Module):
    """The tables of tokens and positions, the blocks and the last norm."""

    def __init__(
        self, tables: Sequence[nn.Module], layers: list[GPT2Block], norm: nn.Module
    ) -> None:
        super().__init__()
        self.wte, self.wpe = tables
        self.h, self.ln_f = nn.ModuleList(layers), norm


class GPT2(CausalModel):
    """The decoder of GPT-2."""

    body = "transformer."
    tied = True
    rotary = None

    def __init__(self, config: Config) -> None:
        config.needs("add_cross_attention", False)
        config.needs("scale_attn_by_inverse_layer_idx", False)
        super().__init__(config)
        d, self.kv_heads = config.size("n_embd"), config.size("n_head")
        if d % self.kv_heads:
            raise config.refusal("n_head", f"a divisor of {d}")
        self.context = config.size("n_positions", 1024)
        self.features = d // self.kv_heads
        hidden = config.size("n_inner", 4 * d)
        activation = config.choice("activation_function", ACTIVATIONS, "gelu_new")
        eps = config.number("layer_norm_epsilon", 1e-5)
        scale = None if config.flag("scale_attn_weights", True) else 1.0
        vocabulary = config.size("vocab_size")
        layers = [
            GPT2Block(
                GPT2Attention(d, self.kv_heads, scale),
                GPT2MLP(d, hidden, activation),
                d,
                eps,
            )
            for _ in range(config.layers("n_layer"))
        ]
        tables = nn.Embedding(vocabulary, d), nn.Embedding(self.context, d)
        self.transformer = GPT2Body(tables, layers, nn.LayerNorm(d, eps=eps))
        self.lm_head = nn.Linear(d, vocabulary, bias=False)

    @property
    def blocks(self) -> Any:
        """The blocks, each of which has a cache."""
        return self.transformer.h

    @property
    def embedding(self) -> nn.Embedding:
        """The table of the tokens."""
        table: Any = self.transformer.wte
        return table  # type: ignore[no-any-return]  # a module

    def read(
        self, tokens: Tensor, places: Places, caches: Sequence[KeyValueCache] | None
    ) -> Tensor:
        """Return the features (B, S, d) after the last block and its norm."""
        body = self.transformer
        x = body.wte(tokens) + body.wpe(places.rows())
        for number, block in enumerate(body.h):
            x = block(x, places, of_cache(caches, number))
        out: Tensor = body.ln_f(x)
        return out
