# SPDX-License-Identifier: MIT
"""The steps of multi-head attention, from its inputs to its output.

Both `nn.MultiheadAttention` and `nn.functional.multi_head_attention_forward` use these
steps. Sequences are ``[B, S, features]`` here.
"""

from __future__ import annotations

from typing import NamedTuple

from autocalc._ops.arranging import joining
from autocalc._ops.creation.constants import zeros
from autocalc._ops.matrices import matmul
from autocalc._ops.reductions import reduction
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._functional import multihead
from autocalc.nn._functional.multihead import Heads, Projections


class Attention(NamedTuple):
    """The settings of a layer that the steps need."""

    where: str
    heads: int
    weights: Projections
    bias_k: Tensor | None
    bias_v: Tensor | None
    add_zero_attn: bool
    #: 0 outside of training.
    dropout: float
    #: Head by head, ``[B, H, T, D]``, in place of the projected tensor.
    static_k: Tensor | None = None
    static_v: Tensor | None = None


class Asked(NamedTuple):
    """The options of one call; see `nn.MultiheadAttention.forward`."""

    key_padding_mask: Tensor | None
    need_weights: bool
    attn_mask: Tensor | None
    average_attn_weights: bool
    is_causal: bool


def forward(
    layer: Attention, ends: tuple[Tensor, Tensor, Tensor], asked: Asked
) -> tuple[Tensor, Tensor | None]:
    """Return the output ``[B, S, E]`` and, if needed, the weights."""
    parts = _split(layer, *multihead.project(*ends, layer.weights))
    extra = layer.bias_k is not None or layer.add_zero_attn
    mask, causal = _mask(layer, parts, asked, extra)
    heads, mask = _with_extra_keys(layer, parts, mask)
    need = asked.need_weights
    out, found = multihead.attend(heads, mask, causal, layer.dropout, need)
    weights = layer.weights
    out = matmul.linear(multihead.join(out), weights.out, weights.out_bias)
    if found is not None and asked.average_attn_weights:
        found = reduction.mean(found, 1)
    return out, found


def _split(layer: Attention, q: Tensor, k: Tensor, v: Tensor) -> Heads:
    heads = [multihead.split(x, layer.heads) for x in (q, k, v)]
    static = (None, layer.static_k, layer.static_v)
    q, k, v = (x if s is None else s for x, s in zip(heads, static, strict=True))
    return Heads(q, k, v)


def _mask(
    layer: Attention, parts: Heads, asked: Asked, extra: bool
) -> tuple[Tensor | None, bool]:
    """Return one mask of what is allowed, and whether it must include causality."""
    where = layer.where
    batch, _, queries, _ = parts.q.shape
    keys = parts.k.shape[2]
    if asked.is_causal and asked.attn_mask is None:
        raise ArgumentError(
            f"{where}: `is_causal` is True, but `attn_mask` is missing; "
            "Transformer.generate_square_subsequent_mask makes a causal mask."
        )
    padded = multihead.allowed(where, "key_padding_mask", asked.key_padding_mask)
    mask = multihead.padding(where, padded, batch, keys)
    if asked.is_causal and not asked.need_weights and not extra:
        return mask, True
    seen = multihead.allowed(where, "attn_mask", asked.attn_mask)
    seen = multihead.scores_mask(where, seen, batch, layer.heads, queries, keys)
    return multihead.both(mask, seen), False


def _with_extra_keys(
    layer: Attention, parts: Heads, mask: Tensor | None
) -> tuple[Heads, Tensor | None]:
    """Add the requested additional keys and values."""
    q, k, v = parts
    batch, heads, _, size = k.shape
    if layer.bias_k is not None and layer.bias_v is not None:
        k, v = (
            joining.cat([x, _every_sequence(extra, batch, heads)], 2)
            for x, extra in ((k, layer.bias_k), (v, layer.bias_v))
        )
        mask = multihead.with_one_more_key(mask)
    if layer.add_zero_attn:
        zero = zeros(batch, heads, 1, size, dtype=k.dtype, device=place_of_tensor(k))
        k, v = (joining.cat([x, zero], 2) for x in (k, v))
        mask = multihead.with_one_more_key(mask)
    return Heads(q, k, v), mask


def _every_sequence(bias: Tensor, batch: int, heads: int) -> Tensor:
    """Return a learned key ``[1, 1, E]`` as ``[B, H, 1, D]``."""
    bias = broadcasting.expand(bias, (batch, 1, bias.shape[-1]))
    return multihead.split(bias, heads)


def check_shapes(
    where: str,
    ends: tuple[Tensor, Tensor, Tensor],
    sizes: tuple[int, int, int],
    batch_first: bool,
) -> bool:
    """Raise unless the inputs fit; return whether they are single sequences."""
    q, k, v = shapes = [x._array.shape for x in ends]
    fits = len(q) in (2, 3) and len(q) == len(k) == len(v) and k[:-1] == v[:-1]
    fits = fits and tuple(shape[-1] for shape in shapes) == sizes
    if fits and len(q) == 3:
        axis = 0 if batch_first else 1
        fits = q[axis] == k[axis]
    if not fits:
        order = "(B, S, {0})" if batch_first else "(S, B, {0})"
        given = ", ".join(map(str, shapes))
        needed = ", ".join(order.format(size) for size in sizes)
        raise ShapeError(
            f"{where}: query, key and value have shapes {given}; they must be "
            f"{needed}, or all three without B, and key and value must have the same "
            "length."
        )
    return len(q) == 2


def sequences(
    ends: tuple[Tensor, Tensor, Tensor], single: bool, batch_first: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return each input as ``[B, S, features]``.

    One tensor given three times stays one tensor, so that one product projects it.
    """
    turned = {id(x): _turned(x, single, batch_first) for x in ends}
    q, k, v = (turned[id(x)] for x in ends)
    return q, k, v


def _turned(x: Tensor, single: bool, batch_first: bool) -> Tensor:
    if single:
        return view.unsqueeze(x, 0)
    return x if batch_first else view.permute(x, (1, 0, 2))


def as_asked(
    out: Tensor, found: Tensor | None, single: bool, batch_first: bool
) -> tuple[Tensor, Tensor | None]:
    """Return the results in the layout of the inputs."""
    if single:
        found = None if found is None else view.squeeze(found, 0)
        return view.squeeze(out, 0), found
    return (out if batch_first else view.permute(out, (1, 0, 2))), found
