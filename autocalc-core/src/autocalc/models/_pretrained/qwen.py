# SPDX-License-Identifier: MIT
"""Qwen 2 and Qwen 3.

Yang et al.: Qwen2 technical report (2024): biases of queries, keys and values.  Yang et
al.: Qwen3 technical report (2025): norms of queries and keys in place of them.
"""

from __future__ import annotations

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.decoder import (
    DecoderModel,
    ProjectedAttention,
    Sizes,
    sliding,
)


def window_of(config: Config, number: int) -> int | None:
    """Return the window of a layer; the first `max_window_layers` layers have none."""
    if not config.flag("use_sliding_window", False):
        return None
    first = config.size("max_window_layers", config.tensors)
    slides = sliding(config, number, number >= first)
    return config.window("sliding_window") if slides else None


class Qwen2(DecoderModel):
    """The decoder of Llama with biases of queries, keys and values."""

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer."""
        window = window_of(config, number)
        return ProjectedAttention(sizes, True, False, window=window)


class NormedAttention(ProjectedAttention):
    """Attention with a norm of each head's queries and keys, before they are turned."""

    def __init__(self, sizes: Sizes, bias: bool, window: int | None) -> None:
        super().__init__(sizes, bias, window=window)
        self.q_norm = nn.RMSNorm(sizes.features, eps=sizes.eps)
        self.k_norm = nn.RMSNorm(sizes.features, eps=sizes.eps)

    def normal_q(self, q: Tensor) -> Tensor:
        """Return queries after their norm."""
        out: Tensor = self.q_norm(q)
        return out

    def normal_k(self, k: Tensor) -> Tensor:
        """Return keys after their norm."""
        out: Tensor = self.k_norm(k)
        return out


class Qwen3(DecoderModel):
    """The decoder of Llama with norms of queries and keys."""

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer."""
        bias = config.flag("attention_bias", False)
        return NormedAttention(sizes, bias, window_of(config, number))
