# SPDX-License-Identifier: MIT
"""Phi 3 and Phi 4: the decoder of Llama with merged projections.

Abdin et al.: Phi-3 technical report (2024).
"""

from __future__ import annotations

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.decoder import DecoderModel, Sizes
from autocalc.models._pretrained.parts import ACTIVATIONS, Attention, Places
from autocalc.models._pretrained.rotary import Rotary


class MergedAttention(Attention):
    """Attention with one product for queries, keys and values."""

    def __init__(self, sizes: Sizes, window: int | None) -> None:
        super().__init__(sizes.heads, sizes.kv_heads, sizes.features, window=window)
        self.widths = [n * self.features for n in (self.heads, *2 * (self.kv_heads,))]
        self.qkv_proj = nn.Linear(sizes.d, sum(self.widths), bias=False)
        self.o_proj = nn.Linear(self.widths[0], sizes.d, bias=False)

    def forward(
        self, x: Tensor, places: Places, rotary: Rotary, cache: KeyValueCache | None
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        q, k, v = self.qkv_proj(x).split(self.widths, -1)
        out: Tensor = self.o_proj(self.attend(q, k, v, places, rotary, cache))
        return out


class MergedMLP(nn.Module):
    """Feed-forward part: y = (f(g) * u) W_down^T, where g and u are one product."""

    def __init__(self, d: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        self.gate_up_proj = nn.Linear(d, 2 * hidden, bias=False)
        self.down_proj = nn.Linear(hidden, d, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        gate, up = self.gate_up_proj(x).chunk(2, -1)
        out: Tensor = self.down_proj(ACTIVATIONS[self.activation](gate) * up)
        return out


class Phi3(DecoderModel):
    """The decoder of Phi 3."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        kind = (config.values.get("rope_parameters") or {}).get("rope_type")
        old = (config.values.get("rope_scaling") or {}).get("type")
        if "longrope" in {kind, old}:
            name = "original_max_position_embeddings"
            self.context = min(self.context, config.size(name, self.context))

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer."""
        return MergedAttention(sizes, config.window("sliding_window"))

    def mlp(self, config: Config, sizes: Sizes) -> nn.Module:
        """Return the feed-forward part of a layer."""
        activation = config.choice("hidden_act", ACTIVATIONS, "silu")
        return MergedMLP(sizes.d, sizes.hidden, activation)
