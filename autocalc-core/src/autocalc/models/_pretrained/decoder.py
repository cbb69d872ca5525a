# SPDX-License-Identifier: MIT
"""The decoder that most families vary: RMS norms, rotary positions, a gated MLP.

Touvron et al.: LLaMA: open and efficient foundation language models (2023), section
2.2.  A block computes ::

    x = x + Attention(Norm(x))
    x = x + MLP(Norm(x))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.model import CausalModel, of_cache
from autocalc.models._pretrained.parts import ACTIVATIONS, Attention, GatedMLP, Places
from autocalc.models._pretrained.rotary import Rotary, rotary_of

#: A head of attention never has more features.
_MOST_FEATURES = 8192


class Sizes:
    """The sizes that all these families write into ``config.json``."""

    def __init__(self, config: Config) -> None:
        self.d = config.size("hidden_size")
        self.hidden = config.size("intermediate_size")
        self.layers = config.layers("num_hidden_layers")
        self.vocabulary = config.size("vocab_size")
        self.context = config.size("max_position_embeddings", 2048)
        self.heads = config.size("num_attention_heads")
        self.kv_heads = config.size("num_key_value_heads", self.heads)
        if self.heads % self.kv_heads:
            raise config.refusal("num_key_value_heads", f"a divisor of {self.heads}")
        if "head_dim" not in config and self.d % self.heads:
            raise config.refusal("num_attention_heads", f"a divisor of {self.d}")
        self.features = config.size("head_dim", self.d // self.heads)
        if self.features > _MOST_FEATURES:
            raise config.refusal("head_dim", f"at most {_MOST_FEATURES}")
        # Families with layer norms have the other name.
        other = config.number("layer_norm_eps", 1e-5)
        self.eps = config.number("rms_norm_eps", other)


class ProjectedAttention(Attention):
    """Attention with a linear layer for each of queries, keys, values and results."""

    def __init__(
        self,
        sizes: Sizes,
        bias: bool = False,
        out_bias: bool | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(sizes.heads, sizes.kv_heads, sizes.features, **settings)
        wide, narrow = self.heads * self.features, self.kv_heads * self.features
        out_bias = bias if out_bias is None else out_bias
        self.q_proj = nn.Linear(sizes.d, wide, bias=bias)
        self.k_proj = nn.Linear(sizes.d, narrow, bias=bias)
        self.v_proj = nn.Linear(sizes.d, narrow, bias=bias)
        self.o_proj = nn.Linear(wide, sizes.d, bias=out_bias)

    def forward(
        self, x: Tensor, places: Places, rotary: Rotary, cache: KeyValueCache | None
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        out: Tensor = self.o_proj(self.attend(q, k, v, places, rotary, cache))
        return out


class Block(nn.Module):
    """One layer: attention and a feed-forward part, each after a norm."""

    def __init__(
        self, attention: nn.Module, mlp: nn.Module, norms: Sequence[nn.Module]
    ) -> None:
        super().__init__()
        self.self_attn, self.mlp = attention, mlp
        self.input_layernorm, self.post_attention_layernorm = norms

    def forward(
        self, x: Tensor, places: Places, rotary: Rotary, cache: KeyValueCache | None
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        x = x + self.self_attn(self.input_layernorm(x), places, rotary, cache)
        out: Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Body(nn.Module):
    """The table of tokens, the blocks and the last norm."""

    def __init__(
        self,
        table: nn.Module,
        layers: Sequence[nn.Module],
        norm: nn.Module,
        name: str = "norm",
    ) -> None:
        super().__init__()
        self.embed_tokens, self.layers = table, nn.ModuleList(layers)
        self.add_module(name, norm)
        self._last = name

    def forward(
        self,
        x: Tensor,
        places: Places,
        rotary: Rotary | None,
        caches: Sequence[KeyValueCache] | None,
    ) -> Tensor:
        """Return the features (B, S, d) after all blocks, for those of the tokens."""
        for number, layer in enumerate(self.layers):
            x = layer(x, places, rotary, of_cache(caches, number))
        out: Tensor = getattr(self, self._last)(x)
        return out


class DecoderModel(CausalModel):
    """A decoder of the kind of Llama; a family says what differs.

    The methods `attention`, `mlp`, `norm` and `block` make the parts of layer number i.
    """

    body = "model."
    #: The share of the features that are turned, if the settings do not say it.
    turned: ClassVar[float] = 1.0
    #: The name of the last norm, and whether the last layer has a bias.
    last_norm: ClassVar[str] = "norm"
    head_bias: ClassVar[bool] = False

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        sizes = Sizes(config)
        self.context, self.kv_heads = sizes.context, sizes.kv_heads
        self.features = sizes.features
        self.rotary = rotary_of(config, sizes.features, self.turned)
        table = nn.Embedding(sizes.vocabulary, sizes.d)
        layers = [self.block(config, sizes, i) for i in range(sizes.layers)]
        self.model = Body(table, layers, self.norm(sizes), self.last_norm)
        self.lm_head = nn.Linear(sizes.d, sizes.vocabulary, bias=self.head_bias)

    def block(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return a layer."""
        attention = self.attention(config, sizes, number)
        norms = self.norm(sizes), self.norm(sizes)
        return Block(attention, self.mlp(config, sizes), norms)

    def attention(self, config: Config, sizes: Sizes, number: int) -> nn.Module:
        """Return the attention of a layer."""
        return ProjectedAttention(sizes)

    def mlp(self, config: Config, sizes: Sizes) -> nn.Module:
        """Return the feed-forward part of a layer."""
        activation = config.choice("hidden_act", ACTIVATIONS, "silu")
        return GatedMLP(sizes.d, sizes.hidden, activation)

    def norm(self, sizes: Sizes) -> nn.Module:
        """Return a norm."""
        return nn.RMSNorm(sizes.d, eps=sizes.eps)

    def read(
        self, tokens: Tensor, places: Places, caches: Sequence[KeyValueCache] | None
    ) -> Tensor:
        """Return the features (B, S, d) after the last block and its norm."""
        x = self.model.embed_tokens(tokens)
        out: Tensor = self.model(x, places, self.rotary, caches)
        return out


def sliding(config: Config, number: int, default: bool) -> bool:
    """Return whether layer `number` sees a window, by `layer_types` or by default."""
    kinds = config.values.get("layer_types")
    if kinds is None:
        return default
    known = ("sliding_attention", "full_attention")
    listed = isinstance(kinds, list) and len(kinds) > number
    if not listed or kinds[number] not in known:
        raise config.refusal("layer_types", f"a list with {known} for each layer")
    return bool(kinds[number] == known[0])
