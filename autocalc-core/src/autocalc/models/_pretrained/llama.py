# SPDX-License-Identifier: MIT
"""Llama 2 and 3, and SmolLM, which has their form.

Touvron et al.: Llama 2: open foundation and fine-tuned chat models (2023); Dubey et
al.: The Llama 3 herd of models (2024).
"""

from __future__ import annotations

from autocalc import nn
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.decoder import DecoderModel, ProjectedAttention, Sizes
from autocalc.models._pretrained.parts import ACTIVATIONS, GatedMLP


class Llama(DecoderModel):
    """The decoder as it is; some models add biases."""

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer."""
        return ProjectedAttention(sizes, config.flag("attention_bias", False))

    def mlp(self, config: Config, sizes: Sizes) -> nn.Module:
        """Return the feed-forward part of a layer."""
        activation = config.choice("hidden_act", ACTIVATIONS, "silu")
        bias = config.flag("mlp_bias", False)
        return GatedMLP(sizes.d, sizes.hidden, activation, bias)
