# SPDX-License-Identifier: MIT
"""The decoder-only transformer: a model of what comes next.

Vaswani et al., Attention is all you need (2017); Radford et al., Language models are
unsupervised multitask learners (2019), for the order of its layers.  Shapes: B texts, S
positions, d features, H heads of D = d / H features, V tokens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from autocalc import nn
from autocalc._ops.creation.ranges import arange
from autocalc._tensor import Tensor
from autocalc._tensor.checks import require
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models._cache import KeyValueCache
from autocalc.models._rotary import Rotary
from autocalc.nn import functional, init

Positions = Literal["learned", "rotary"]
Norm = Literal["layer", "rms"]
Activation = Literal["gelu", "swiglu"]


class Attention(nn.Module):
    """Multi-head self-attention; by default causal.

    For an input x of shape (B, S, d)::

        q, k, v = x W_qkv^T + b_qkv             (B, S, H, D) each
        a = softmax(q k^T / sqrt(D) + causal)   (B, H, S, S), never in memory
        y = (a v) W_o^T + b_o                   (B, S, d)

    If there are fewer heads of keys than of queries, neighbouring heads of queries
    share a head of keys (Ainslie et al.: GQA, 2023).
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        kv_heads: int,
        dropout: float,
        bias: bool,
        causal: bool = True,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.dropout = heads, kv_heads, dropout
        self.causal = causal
        self.features = d_model // heads
        width = (heads + 2 * kv_heads) * self.features
        self.qkv = nn.Linear(d_model, width, bias=bias)
        self.out = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        x: Tensor,
        rotary: Rotary | None = None,
        cache: KeyValueCache | None = None,
        start: int | None = None,
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d).

        `cache` holds the keys and values of the `start` positions before.
        """
        batch, length, _ = x.shape
        every = self.heads + 2 * self.kv_heads
        # Heads stay interleaved: the three are views, and their gradients one array.
        qkv = self.qkv(x).reshape(batch, length, every, self.features)
        q = qkv[:, :, : self.heads]
        k = qkv[:, :, self.heads : self.heads + self.kv_heads]
        v = qkv[:, :, self.heads + self.kv_heads :]
        past = _past(cache, start)
        if rotary is not None:
            q, k = rotary(q, past), rotary(k, past)
        if cache is not None:
            k, v = cache.append(k, v, start)
        y = functional.scaled_dot_product_attention(
            q.permute(0, 2, 1, 3),
            k.permute(0, 2, 1, 3),
            v.permute(0, 2, 1, 3),
            attn_mask=_beyond(length, past),
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=self.causal and length > 1 and past == 0,
            enable_gqa=self.kv_heads != self.heads,
        )
        y = y.permute(0, 2, 1, 3).reshape(batch, length, self.heads * self.features)
        out: Tensor = self.out(y)
        return out


def _past(cache: KeyValueCache | None, start: int | None) -> int:
    """Return how many positions are over: as the caller says, or the cache."""
    if start is not None:
        return start
    return 0 if cache is None else cache.count


def _beyond(length: int, past: int) -> Tensor | None:
    """Return which keys each new position may see, where `is_causal` cannot say it."""
    if length == 1 or past == 0:
        return None
    return arange(past + length) <= arange(past, past + length).reshape(-1, 1)


class GELUFeedForward(nn.Module):
    """Feed-forward part: y = GELU(x W_1^T + b_1) W_2^T + b_2."""

    def __init__(self, d_model: int, d_ff: int, bias: bool) -> None:
        super().__init__()
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.down(functional.gelu(self.up(x)))
        return out


class SwiGLUFeedForward(nn.Module):
    """Feed-forward part: y = (SiLU(x W_g^T) * x W_u^T) W_2^T.

    Shazeer: GLU variants improve transformer (2020), equation 6.
    """

    def __init__(self, d_model: int, d_ff: int, bias: bool) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.up = nn.Linear(d_model, d_ff, bias=bias)
        self.down = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        out: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return out


FEED_FORWARD = {"gelu": GELUFeedForward, "swiglu": SwiGLUFeedForward}
NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


class Block(nn.Module):
    """A transformer block: x = x + Attention(Norm(x)); x = x + FeedForward(Norm(x))."""

    def __init__(
        self, attention: Attention, feed_forward: nn.Module, norms: Sequence[nn.Module]
    ) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = norms
        self.attention, self.feed_forward = attention, feed_forward

    def forward(
        self,
        x: Tensor,
        rotary: Rotary | None = None,
        cache: KeyValueCache | None = None,
        start: int | None = None,
    ) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        x = x + self.attention(self.norm_1(x), rotary, cache, start)
        out: Tensor = x + self.feed_forward(self.norm_2(x))
        return out


class Decoder(nn.Module):
    """A decoder-only transformer, which predicts the next token at each position.

    For tokens of shape (B, S), the model computes the following.  E is the embedding
    table, and P is the table of position vectors::

        x = E[tokens] + P[positions]            (B, S, d)
        x = Block_L(...(Block_1(x)))
        logits = Norm(x) E^T                    (B, S, V)

    Parameters
    ----------
    vocabulary
        The number of tokens V.
    context
        The largest length of a text, in tokens.
    d_model, heads, layers
        The numbers of features d, of heads H and of blocks L.  d is a multiple of H.
    d_ff
        The number of hidden features of the feed-forward part.  The default is 4 d.
    kv_heads
        The number of heads of keys and values; a divisor of `heads`.  The default is
        `heads`.
    positions
        ``"learned"`` adds a learned vector to each position.  ``"rotary"`` rotates
        queries and keys; see `Rotary`.
    norm
        The class of the norms: ``"layer"`` for `LayerNorm`, ``"rms"`` for `RMSNorm`.
    activation
        The activation of the feed-forward part: ``"gelu"`` or ``"swiglu"``.
    dropout
        The probability that an attention weight is set to 0 in training.
    bias
        True to add biases to the linear layers and to the norms.
    tied
        True to use the embedding table E as the weight of the last layer (Press, Wolf
        2017).

    Raises
    ------
    ArgumentError
        If `heads` does not divide `d_model`, if `kv_heads` does not divide `heads`, or
        if `positions`, `norm` or `activation` is an unknown name.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.Decoder(vocabulary=65, context=64, d_model=32, layers=2)
    >>> tokens = ac.randint(0, 65, (8, 64))
    >>> model(tokens).shape
    autocalc.Size([8, 64, 65])
    """

    def __init__(
        self,
        vocabulary: int,
        context: int = 64,
        d_model: int = 128,
        heads: int = 4,
        layers: int = 4,
        d_ff: int | None = None,
        *,
        kv_heads: int | None = None,
        positions: Positions = "learned",
        norm: Norm = "layer",
        activation: Activation = "gelu",
        dropout: float = 0.0,
        bias: bool = True,
        tied: bool = True,
    ) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        d_ff = 4 * d_model if d_ff is None else d_ff
        _check_sizes(d_model, heads, kv_heads)
        for name, value, known in (
            ("positions", positions, ("learned", "rotary")),
            ("norm", norm, tuple(NORMS)),
            ("activation", activation, tuple(FEED_FORWARD)),
        ):
            _check_choice(name, value, known)
        self.context, self.kv_heads = context, kv_heads
        self.features = d_model // heads
        make_norm, make_feed_forward = NORMS[norm], FEED_FORWARD[activation]
        self.tokens = nn.Embedding(vocabulary, d_model)
        learned = positions == "learned"
        self.positions = nn.Embedding(context, d_model) if learned else None
        self.rotary = None if learned else Rotary(context, self.features)
        self.blocks = nn.ModuleList(
            Block(
                Attention(d_model, heads, kv_heads, dropout, bias),
                make_feed_forward(d_model, d_ff, bias),
                (make_norm(d_model), make_norm(d_model)),
            )
            for _ in range(layers)
        )
        self.norm = make_norm(d_model)
        self.head = nn.Linear(d_model, vocabulary, bias=False)
        if tied:
            self.head.weight = self.tokens.weight
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all weights.

        They are normal random numbers with standard deviation 0.02.  Each of the L
        blocks adds the results of two branches, attention and feed-forward, to its
        input.  For the last weight of each branch, the standard deviation is 0.02 /
        sqrt(2 L), so that the sum of the 2 L results does not grow with L (Radford et
        al. 2019, section 2.3).
        """
        last = 0.02 / math.sqrt(2 * max(len(self.blocks), 1))
        for name, parameter in self.named_parameters():
            if parameter.ndim < 2:
                continue  # norms and biases are ones and zeros
            ends = name.endswith(("out.weight", "down.weight"))
            init.normal_(parameter, 0.0, last if ends else 0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear) and module.bias is not None:
                init.zeros_(module.bias)

    def forward(
        self,
        tokens: Tensor,
        caches: Sequence[KeyValueCache] | None = None,
        start: int | None = None,
    ) -> Tensor:
        """Return logits (B, S, V) of the next token, for each of `tokens` (B, S).

        Parameters
        ----------
        tokens
            The tokens: integers of shape (B, S).  A row has at most `context` tokens,
            including the tokens in the caches.
        caches
            The caches of earlier tokens, one for each block, made by `make_caches`.  If
            they are given, `tokens` are the tokens that follow the earlier ones.
        start
            The position of the first token.  If it is given, the caches are read and
            written at this position, and their `count` does not change.  A compiled
            function (`autocalc.compile`) must pass `start` if it passes `caches`.
        """
        past = _past(None if caches is None else caches[0], start)
        self._check_tokens(tokens, past)
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions(
                arange(past, past + tokens.shape[1], device=place_of_tensor(tokens))
            )
        for i, block in enumerate(self.blocks):
            x = block(x, self.rotary, None if caches is None else caches[i], start)
        logits: Tensor = self.head(self.norm(x))
        return logits

    def make_caches(self, batch: int) -> list[KeyValueCache]:
        """Return an empty cache for each block, with room for `context` positions."""
        dtype = self.tokens.weight.dtype
        sizes = (batch, self.kv_heads, self.context, self.features)
        return [KeyValueCache(*sizes, dtype=dtype) for _ in self.blocks]

    def loss(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy over all positions of `tokens` (B, S)."""
        logits = self(tokens)
        flat = logits.reshape(-1, logits.shape[-1])
        return functional.cross_entropy(flat, targets.reshape(-1))

    def _check_tokens(self, tokens: Tensor, past: int) -> None:
        if tokens.ndim != 2 or tokens.shape[1] == 0:
            raise ShapeError(
                f"Decoder: `tokens` has shape {tokens.shape}; it must be [B, S] with S "
                f"at least 1."
            )
        if past + tokens.shape[1] > self.context:
            after = f" after {past} in the caches" if past else ""
            raise ShapeError(
                f"Decoder: got a sequence of {tokens.shape[1]} tokens{after}; this "
                f"model can read at most {self.context} (`context`)."
            )


def _check_sizes(d_model: int, heads: int, kv_heads: int) -> None:
    if min(d_model, heads, kv_heads) < 1 or d_model % heads or heads % kv_heads:
        raise ArgumentError(
            f"Decoder: d_model={d_model}, heads={heads}, kv_heads={kv_heads}; d_model "
            "must be a multiple of heads, and heads a multiple of kv_heads; all three "
            "must be at least 1."
        )


def _check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    require("Decoder", name, value, value in known, f"one of {known}")
