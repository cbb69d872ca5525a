# SPDX-License-Identifier: MIT
"""The references of attention and its backward kernel; `attention` has the formulas."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._kernels._legacy._attention_in_primitives import shift
from autocalc._kernels._legacy.random import dropout_mask, keep_scale
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import BOOL
from autocalc._kernels.spec import Array


class Heads(NamedTuple):
    """Operands head by head, keys and values repeated for the heads they serve."""

    q: Array  # [B, H, S, D]
    k: Array  # [B, H, T, D]
    v: Array  # [B, H, T, E]


def heads_of(xp: Any, q: Array, k: Array, v: Array) -> Heads:
    times = q.shape[2] // max(k.shape[2], 1)
    k, v = (xp.repeat(wide(xp, a), times, axis=2) for a in (k, v))
    return Heads(*(xp.swapaxes(a, 1, 2) for a in (wide(xp, q), k, v)))


def scores(
    xp: Any, heads: Heads, mask: Array | None, scale: float, causal: str
) -> Array:
    s = scale * xp.matmul(heads.q, xp.swapaxes(heads.k, -1, -2))
    if mask is not None:
        s = xp.where(mask, s, -xp.inf) if mask.dtype == BOOL else s + wide(xp, mask)
    if causal != "none":
        queries, keys = s.shape[-2:]
        last = xp.arange(queries)[:, None] + shift(causal, queries, keys)
        s = xp.where(xp.arange(keys) <= last, s, -xp.inf)
    return s


def attention(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    seed: Array | None,
    offset: Array | None,
    scale: float,
    causal: str,
    p: float,
    *,
    want: int = -1,
) -> tuple[Array, Array]:
    heads = heads_of(xp, q, k, v)
    s = scores(xp, heads, mask, scale, causal)
    top = xp.max(s, axis=-1, keepdims=True, initial=-xp.inf)
    top = xp.where(top == -xp.inf, 0, top)
    e = xp.exp(s - top)
    total = xp.sum(e, axis=-1, keepdims=True)
    weights = e / xp.where(total == 0, 1, total)
    if p:
        keep = dropout_mask(xp, seed, offset, s.shape, p)
        weights = xp.where(keep, weights * keep_scale(p), 0)
    out = xp.swapaxes(xp.matmul(weights, heads.v), 1, 2)
    lse = (top + xp.log(total))[..., 0]
    return narrow(out, q), narrow(lse, q)


def attention_backward(
    xp: Any,
    g: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    lse: Array,
    mask: Array | None,
    seed: Array | None,
    offset: Array | None,
    scale: float,
    causal: str,
    p: float,
    *,
    want: int = -1,
) -> tuple[Array, Array, Array]:
    heads = heads_of(xp, q, k, v)
    s = scores(xp, heads, mask, scale, causal)
    top = xp.where(lse == -xp.inf, 0, wide(xp, lse))[..., None]
    weights = xp.exp(s - top)
    g_, out_ = (xp.swapaxes(wide(xp, a), 1, 2) for a in (g, out))
    dweights = xp.matmul(g_, xp.swapaxes(heads.v, -1, -2))
    dropped = weights
    if p:
        keep = dropout_mask(xp, seed, offset, s.shape, p)
        dropped = xp.where(keep, weights * keep_scale(p), 0)
        dweights = xp.where(keep, dweights * keep_scale(p), 0)
    ds = weights * (dweights - xp.sum(g_ * out_, axis=-1, keepdims=True))
    dq = scale * xp.swapaxes(xp.matmul(ds, heads.k), 1, 2)
    dk = scale * xp.matmul(xp.swapaxes(ds, -1, -2), heads.q)
    dv = xp.matmul(xp.swapaxes(dropped, -1, -2), g_)
    return narrow(dq, q), served(xp, dk, k), served(xp, dv, v)


def served(xp: Any, d: Array, like: Array) -> Array:
    """Sum ``[B, H, T, D]`` over the heads that each head of `like` serves."""
    batch, keys, groups, features = like.shape
    times = d.shape[1] // max(groups, 1)
    parts = d.reshape(batch, groups, times, keys, features)
    return narrow(xp.swapaxes(xp.sum(parts, axis=2), 1, 2), like)
