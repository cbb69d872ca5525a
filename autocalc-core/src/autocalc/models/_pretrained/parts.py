# SPDX-License-Identifier: MIT
"""What the models have in common: attention, places of tokens, gated MLPs.

Shapes: B texts, S new positions, T positions with those in the caches, d features, H
heads of D features, G heads of keys and values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from autocalc import nn
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.ranges import arange
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType, bool_
from autocalc.errors import ShapeError
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.rotary import Rotary
from autocalc.nn import functional

#: The activations of feed-forward parts, by their names in ``config.json``.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": partial(functional.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(functional.gelu, approximate="tanh"),
    "quick_gelu": lambda x: x * (1.702 * x).sigmoid(),
    "relu": functional.relu,
    "silu": functional.silu,
}


class Padding:
    """Which tokens of a batch are padding, as tables for all positions.

    Parameters
    ----------
    mask
        True for tokens and False for padding, of shape ``(B, T)``.
    dtype
        The dtype of the scores of attention.
    """

    def __init__(self, mask: Tensor, dtype: DType) -> None:
        self.shown = mask[:, None, None]
        hidden = zeros(*mask.shape, dtype=dtype).masked_fill(~mask, float("-inf"))
        #: What is added to the scores, ``(B, 1, 1, T)``.
        self.scores = hidden[:, None, None]
        #: The number of each token in its text; padding before it is not counted.
        self.rows = (mask.long().cumsum(1) - 1).clamp(min=0)

    def between(self, first: int, stop: int) -> Tensor:
        """Return what is added to the scores of these keys, ``(B, 1, 1, keys)``."""
        return self.scores[..., first:stop]

    def numbers(self, start: int, stop: int) -> Tensor:
        """Return the numbers of these tokens in their texts, ``(B, tokens)``."""
        return self.rows[:, start:stop]


class Places:
    """The places of the tokens of one call, and which keys each of them may see.

    Parameters
    ----------
    length
        The number of new tokens S.
    start
        The number of positions before them, whose keys are in the caches.
    padding
        The tables of a batch with padding, or None if all positions are tokens.
    """

    def __init__(self, length: int, start: int, padding: Padding | None = None) -> None:
        self.length, self.start, self.padding = length, start, padding
        self._seen: dict[int | None, tuple[int, Tensor | None, bool]] = {}

    def rows(self) -> Tensor:
        """Return the number of each token in its text, ``(S,)`` or ``(B, S)``."""
        stop = self.start + self.length
        if self.padding is None:
            return arange(self.start, stop)
        return self.padding.numbers(self.start, stop)

    def seen(self, window: int | None = None) -> tuple[int, Tensor | None, bool]:
        """Return the first key, the mask of attention, and whether it is causal too.

        With a `window`, a token sees itself and ``window - 1`` tokens before it.
        """
        if window not in self._seen:
            many = self.length > 1
            self._seen[window] = self._many(window) if many else self._one(window)
        return self._seen[window]

    def _one(self, window: int | None) -> tuple[int, Tensor | None, bool]:
        """One token sees a slice: in compiled code no shape depends on its place."""
        stop = self.start + 1
        first = stop - window if window is not None and stop > window else 0
        if self.padding is None:
            return first, None, False
        return first, self.padding.between(first, stop), False

    def _many(self, window: int | None) -> tuple[int, Tensor | None, bool]:
        stop = self.start + self.length
        seen = None if self.padding is None else self.padding.shown[..., :stop]
        causal = self.start == 0
        queries = arange(self.start, stop).reshape(-1, 1)
        if not causal:
            seen = _both(seen, arange(stop) <= queries)
        if window is not None and stop > window:
            seen = _both(seen, arange(stop) > queries - window)
        return 0, seen, causal


def _both(seen: Tensor | None, more: Tensor) -> Tensor:
    return more if seen is None else seen & more


class Attention(nn.Module):
    """Self-attention; the projections are those of a family, the rest is here.

    ::

        a = softmax(scale q k^T + seen)     (B, H, S, T)
        y = a v                             (B, S, H D)

    Parameters
    ----------
    heads, kv_heads, features
        The numbers H, G and D.
    window
        The number of positions that a token sees, or None for all before it.
    scale
        The factor of the scores; by default ``1 / sqrt(D)``.
    cap
        If given, a score s becomes ``cap * tanh(s / cap)``.
    """

    def __init__(
        self,
        heads: int,
        kv_heads: int,
        features: int,
        *,
        window: int | None = None,
        scale: float | None = None,
        cap: float | None = None,
    ) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.features = heads, kv_heads, features
        self.window, self.cap = window, cap
        self.scale = features**-0.5 if scale is None else scale

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        places: Places,
        rotary: Rotary | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Return the result (B, S, H D) for projections (B, S, H D) and (B, S, G D)."""
        batch, length = q.shape[:2]
        q = self.normal_q(q.reshape(batch, length, self.heads, self.features))
        k = self.normal_k(k.reshape(batch, length, self.kv_heads, self.features))
        v = v.reshape(batch, length, self.kv_heads, self.features)
        if rotary is not None:
            q, k = rotary.turn(q, places.start), rotary.turn(k, places.start)
        if cache is not None:
            k, v = cache.append(k, v, places.start)
        first, seen, causal = places.seen(self.window)
        if first:
            k, v = k[:, first:], v[:, first:]
        q, k, v = (x.permute(0, 2, 1, 3) for x in (q, k, v))
        y = self._product(q, k, v, seen, causal)
        return y.permute(0, 2, 1, 3).reshape(batch, length, self.heads * self.features)

    def normal_q(self, q: Tensor) -> Tensor:
        """Return queries (B, S, H, D) after their norm, which some families have."""
        return q

    def normal_k(self, k: Tensor) -> Tensor:
        """Return keys (B, S, G, D) after their norm, which some families have."""
        return k

    def _product(
        self, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, causal: bool
    ) -> Tensor:
        if self.cap is not None:
            return self._capped(q, k, v, seen, causal)
        return functional.scaled_dot_product_attention(
            q, k, v, seen, 0.0, causal, self.scale, self.kv_heads != self.heads
        )

    def _capped(
        self, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, causal: bool
    ) -> Tensor:
        """Return attention whose scores have a bound, by products and a softmax."""
        batch, heads, length, features = q.shape
        groups = q.reshape(batch, self.kv_heads, -1, length, features)
        scores = groups @ k.unsqueeze(2).transpose(-1, -2) * self.scale
        scores = self.cap * (scores / self.cap).tanh()
        if causal:
            seen = _both(seen, arange(length) <= arange(length).reshape(-1, 1))
        if seen is not None:
            seen = seen.unsqueeze(2) if seen.ndim == 4 else seen
            boolean = seen.dtype is bool_
            scores = scores.masked_fill(~seen, -1e30) if boolean else scores + seen
        y = functional.softmax(scores, -1) @ v.unsqueeze(2)
        return y.reshape(batch, heads, length, features)


class GatedMLP(nn.Module):
    """Feed-forward part: y = (f(x W_gate^T) * x W_up^T) W_down^T.

    Shazeer: GLU variants improve transformer (2020), equation 6.
    """

    def __init__(
        self, d: int, hidden: int, activation: str, bias: bool = False
    ) -> None:
        super().__init__()
        self.activation = activation
        self.gate_proj = nn.Linear(d, hidden, bias=bias)
        self.up_proj = nn.Linear(d, hidden, bias=bias)
        self.down_proj = nn.Linear(hidden, d, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return the output (B, S, d) for the input (B, S, d)."""
        gate = ACTIVATIONS[self.activation](self.gate_proj(x))
        out: Tensor = self.down_proj(gate * self.up_proj(x))
        return out


def check_tokens(where: str, tokens: Tensor, start: int, context: int) -> None:
    """Raise unless tokens have the shape (B, S) and fit the context."""
    if tokens.ndim != 2 or tokens.shape[1] == 0:
        raise ShapeError(
            f"{where}: `tokens` has shape {tokens.shape}; it must be [B, S] with S at "
            "least 1."
        )
    if start + tokens.shape[1] > context:
        after = f" after {start} in the caches" if start else ""
        raise ShapeError(
            f"{where}: got a sequence of {tokens.shape[1]} tokens{after}; this model "
            f"can read at most {context}."
        )


def check_mask(where: str, mask: Any, tokens: Tensor, start: int) -> Tensor:
    """Return the mask as booleans; raise unless it has a column for each position."""
    rows, columns = mask.shape if mask.ndim == 2 else (-1, -1)
    if rows != tokens.shape[0] or columns < start + tokens.shape[1]:
        raise ShapeError(
            f"{where}: `mask` has shape {mask.shape}; for these tokens it must be "
            f"[{tokens.shape[0]}, {start + tokens.shape[1]}], or have more columns."
        )
    return mask.bool()  # type: ignore[no-any-return]  # a tensor
