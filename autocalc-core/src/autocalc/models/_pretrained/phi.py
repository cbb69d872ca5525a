# SPDX-License-Identifier: MIT
"""Phi 1.5 and Phi 2: attention and feed-forward part read the same norm.

Li et al.: Textbooks are all you need II: phi-1.5 technical report (2023).
"""

from __future__ import annotations

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.decoder import DecoderModel, Sizes
from autocalc.models._pretrained.parts import ACTIVATIONS, Attention, Places
from autocalc.models._pretrained.rotary import Rotary


class PhiAttention(Attention):
    """Attention with biases; a part of each head's features is turned."""

    def __init__(self, sizes: Sizes, normed: bool) -> None:
        super().__init__(sizes.heads, sizes.kv_heads, sizes.features)
        wide, narrow = self.heads * self.features, self.kv_heads * self.features
        self.q_proj = nn.Linear(sizes.d, wide)
        self.k_proj = nn.Linear(sizes.d, narrow)
        self.v_proj = nn.Linear(sizes.d, narrow)
        self.dense = nn.Linear(wide, sizes.d)
        self.normed = normed
        if normed:
            self.q_layernorm = nn.LayerNorm(sizes.features, eps=sizes.eps)
            self.k_layernorm = nn.LayerNorm(sizes.features, eps=sizes.eps)

    def normal_q(self, q: Tensor) -> Tensor:
        """Return queries after their norm, if they have one."""
        return self.q_layernorm(q) if self.normed else q

    def normal_k(self, k: Tensor) -> Tensor:
        """Return keys after their norm, if they have one."""
        return self.k_layernorm(k) if self.normed else k

    def forward(
        self, x: Tensor, places: Places, rotary: Rotary, cache: KeyValueCache | None
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        out: Tensor = self.dense(self.attend(q, k, v, places, rotary, cache))
        return out


class MLP(nn.Module):
    """Feed-forward part: y = f(x W_1^T + b_1) W_2^T + b_2."""

    def __init__(self, d: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.activation = activation
        self.fc1, self.fc2 = nn.Linear(d, hidden), nn.Linear(hidden, d)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.fc2(ACTIVATIONS[self.activation](self.fc1(x)))
        return out


class PhiBlock(nn.Module):
    """A layer: x = x + Attention(Norm(x)) + MLP(Norm(x))."""

    def __init__(self, attention: nn.Module, mlp: nn.Module, norm: nn.Module) -> None:
        super().__init__()
        self.self_attn, self.mlp, self.input_layernorm = attention, mlp, norm

    def forward(
        self, x: Tensor, places: Places, rotary: Rotary, cache: KeyValueCache | None
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        h = self.input_layernorm(x)
        out: Tensor = self.self_attn(h, places, rotary, cache) + self.mlp(h) + x
        return out


class Phi(DecoderModel):
    """The decoder of Phi 1.5 and Phi 2."""

    turned, last_norm, head_bias = 0.5, "final_layernorm", True

    def block(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return a layer."""
        attention = PhiAttention(sizes, config.flag("qk_layernorm", False))
        activation = config.choice("hidden_act", ACTIVATIONS, "gelu_new")
        mlp = MLP(sizes.d, sizes.hidden, activation)
        return PhiBlock(attention, mlp, self.norm(sizes))

    def norm(self, sizes: Sizes) -> nn.Module:
        """Return a norm."""
        return nn.LayerNorm(sizes.d, eps=sizes.eps)
