# SPDX-License-Identifier: MIT
"""Gemma 2: windows in every second layer, bounded scores, norms on both sides.

Gemma Team: Gemma 2: improving open language models at a practical size (2024), section
2.
"""

from __future__ import annotations

from collections.abc import Sequence

from autocalc import nn
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.decoder import (
    DecoderModel,
    ProjectedAttention,
    Sizes,
    sliding,
)
from autocalc.models._pretrained.parts import ACTIVATIONS, GatedMLP, Places
from autocalc.models._pretrained.rotary import Rotary
from autocalc.nn import functional


class Norm(nn.Module):
    """An RMS norm whose weight is stored as its difference from 1."""

    def __init__(self, d: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(zeros(d))

    def forward(self, x: Tensor) -> Tensor:
        """Return x (..., d), scaled to a mean square of 1, times the weight."""
        return functional.rms_norm(x, self.weight.shape, 1 + self.weight, self.eps)


class Gemma2Block(nn.Module):
    """A layer: x = x + Norm(f(Norm(x))) for attention and for the feed-forward part."""

    def __init__(
        self, attention: nn.Module, mlp: nn.Module, norms: Sequence[nn.Module]
    ) -> None:
        super().__init__()
        self.self_attn, self.mlp = attention, mlp
        self.input_layernorm, self.post_attention_layernorm = norms[:2]
        self.pre_feedforward_layernorm, self.post_feedforward_layernorm = norms[2:]

    def forward(
        self, x: Tensor, places: Places, rotary: Rotary, cache: KeyValueCache | None
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        y = self.self_attn(self.input_layernorm(x), places, rotary, cache)
        x = x + self.post_attention_layernorm(y)
        y = self.mlp(self.pre_feedforward_layernorm(x))
        out: Tensor = x + self.post_feedforward_layernorm(y)
        return out


class Gemma2(DecoderModel):
    """The decoder of Gemma 2."""

    tied = True

    def __init__(self, config: Config) -> None:
        config.needs("use_bidirectional_attention", False)
        super().__init__(config)
        capped = "final_logit_softcapping" in config
        self.cap = config.number("final_logit_softcapping") if capped else None

    def block(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return a layer."""
        norms = [self.norm(sizes) for _ in range(4)]
        attention = self.attention(config, sizes, number)
        return Gemma2Block(attention, self.mlp(config, sizes), norms)

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer; the first layer has a window."""
        slides = sliding(config, number, number % 2 == 0)
        capped = "attn_logit_softcapping" in config
        return ProjectedAttention(
            sizes,
            config.flag("attention_bias", False),
            window=config.window("sliding_window") if slides else None,
            scale=config.number("query_pre_attn_scalar", sizes.features) ** -0.5,
            cap=config.number("attn_logit_softcapping") if capped else None,
        )

    def mlp(self, config: Config, sizes: Sizes) -> nn.Module:
        """Return the feed-forward part of a layer."""
        name = "hidden_activation" if "hidden_activation" in config else "hidden_act"
        activation = config.choice(name, ACTIVATIONS, "gelu_pytorch_tanh")
        return GatedMLP(sizes.d, sizes.hidden, activation)

    def norm(self, sizes: Sizes) -> nn.Module:
        """Return a norm."""
        return Norm(sizes.d, sizes.eps)

    def read(
        self, tokens: Tensor, places: Places, caches: Sequence[KeyValueCache] | None
    ) -> Tensor:
        """Return the features (B, S, d) after the last block and its norm."""
        x = self.model.embed_tokens(tokens)
        # The factor is rounded to the dtype of the model, as in its training.
        x = x * tensor(x.shape[-1] ** 0.5, dtype=x.dtype)
        out: Tensor = self.model(x, places, self.rotary, caches)
        return out

    def logits(self, x: Tensor) -> Tensor:
        """Return the logits (B, S, V), each within plus and minus `cap`."""
        logits = super().logits(x)
        return logits if self.cap is None else self.cap * (logits / self.cap).tanh()
