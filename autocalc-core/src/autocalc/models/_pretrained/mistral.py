# SPDX-License-Identifier: MIT
"""Mistral: each token sees a window of positions (Jiang et al.: Mistral 7B, 2023)."""

from __future__ import annotations

from autocalc import nn
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.decoder import DecoderModel, ProjectedAttention, Sizes


class Mistral(DecoderModel):
    """The decoder of Llama with a sliding window in all layers."""

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer."""
        return ProjectedAttention(sizes, window=config.window("sliding_window"))
