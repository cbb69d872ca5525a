# SPDX-License-Identifier: MIT
"""Attention and its backward kernel in primitives.

Heads are ``[B, G, R, S, D]``: each of G heads of keys serves R heads of queries, and
the products repeat the keys along R by themselves.
"""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy.random import (
    dropout_backward_in_primitives,
    dropout_in_primitives,
)
from autocalc._kernels.rules import BOOL
from autocalc._kernels.spec import Array


def shift(causal: str, queries: int, keys: int) -> int:
    """Return how many keys the first query sees beside its own."""
    return keys - queries if causal == "lower_right" else 0


def _queries_in(k: Any, a: Array, groups: int) -> Array:
    batch, queries, heads, features = k.shape(a)
    times = heads // max(groups, 1)
    shape = (batch, groups, times, queries, features)
    return k.reshape(k.permute(a, (0, 2, 1, 3)), shape)


def _keys_in(k: Any, a: Array) -> Array:
    batch, keys, groups, features = k.shape(a)
    return k.reshape(k.permute(a, (0, 2, 1, 3)), (batch, groups, 1, keys, features))


def _turned(k: Any, a: Array) -> Array:
    return k.permute(a, (0, 1, 2, 4, 3))


def _times(k: Any, a: Array, b: Array, alpha: float = 1.0) -> Array:
    return k.gemm(a, b, None, alpha, 1.0, "none")[0]


def _scores_in(
    k: Any, q5: Array, k5: Array, mask: Array | None, scale: float, causal: str
) -> Array:
    """Return the scores ``[B, H, S, T]``, -inf where nothing may be attended to."""
    s = _times(k, q5, _turned(k, k5), scale)
    batch, groups, times, queries, keys = k.shape(s)
    s = k.reshape(s, (batch, groups * times, queries, keys))
    never = k.constant(-float("inf"), s)
    if mask is not None:
        plain = k.dtype(mask) != BOOL
        s = k.add(s, mask) if plain else k.where(mask, s, never)
    if causal != "none":
        rows = k.reshape(k.arange(queries, s), (queries, 1))
        last = k.add(rows, k.constant(shift(causal, queries, keys), rows))
        seen = k.compare(k.arange(keys, s), last, "le")
        s = k.where(seen, s, never)
    return s


def _finite_in(k: Any, top: Array) -> Array:
    never = k.compare(top, k.constant(-float("inf"), top), "eq")
    return k.where(never, k.constant(0, top), top)


def attention_in_primitives(
    k: Any,
    q: Array,
    keys: Array,
    v: Array,
    mask: Array | None,
    seed: Array | None,
    offset: Array | None,
    scale: float,
    causal: str,
    p: float,
    *,
    want: int = -1,
) -> tuple[Array, Array | None]:
    batch, queries, heads, _ = k.shape(q)
    groups = k.shape(keys)[2]
    s = _scores_in(k, _queries_in(k, q, groups), _keys_in(k, keys), mask, scale, causal)
    if 0 in k.shape(s):
        return _of_nothing(k, q, v, s, want)
    top = _finite_in(k, k.max(s, (3,), True))
    e = k.exp(k.add(s, k.neg(top)))
    total = k.sum(e, (3,), True)
    empty = k.compare(total, k.constant(0, total), "eq")
    weights = k.div(e, k.where(empty, k.constant(1, total), total))
    if p:
        weights, _ = dropout_in_primitives(k, weights, seed, offset, p)
    out = _mixed(k, weights, v)
    lse = None
    if want & 0b10:
        lse = k.reshape(k.add(top, k.log(total)), (batch, heads, queries))
    return out, lse


def _of_nothing(
    k: Any, q: Array, v: Array, s: Array, want: int
) -> tuple[Array, Array | None]:
    """Return the results where there are no queries, or no keys: zeros, and -inf."""
    batch, heads, queries, _ = k.shape(s)
    out = k.zeros((batch, queries, heads, k.shape(v)[3]), k.dtype(q))
    if not want & 0b10:
        return out, None
    return out, k.full((batch, heads, queries), -float("inf"), k.dtype(q))


def _mixed(k: Any, weights: Array, v: Array) -> Array:
    """Return the weights ``[B, H, S, T]`` times the values, as ``[B, S, H, E]``."""
    batch, heads, queries, keys = k.shape(weights)
    groups, features = k.shape(v)[2:]
    grouped = (batch, groups, heads // groups, queries, keys)
    out = _times(k, k.reshape(weights, grouped), _keys_in(k, v))
    out = k.reshape(out, (batch, heads, queries, features))
    return k.contiguous(k.permute(out, (0, 2, 1, 3)))


def attention_backward_in_primitives(
    k: Any,
    g: Array,
    q: Array,
    keys: Array,
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
) -> tuple[Array | None, Array | None, Array | None]:
    batch, queries, heads, _ = k.shape(q)
    groups = k.shape(keys)[2]
    q5, k5, v5 = _queries_in(k, q, groups), _keys_in(k, keys), _keys_in(k, v)
    s = _scores_in(k, q5, k5, mask, scale, causal)
    if 0 in k.shape(s):
        return tuple(  # type: ignore[return-value]  # three, as the loop has
            k.zeros(k.shape(a), k.dtype(a)) if want >> i & 1 else None
            for i, a in enumerate((q, keys, v))
        )
    row = (batch, heads, queries, 1)
    top = _finite_in(k, k.reshape(lse, row))
    weights = k.exp(k.add(s, k.neg(top)))
    g5 = _queries_in(k, g, groups)
    dq = dk = dv = None
    shape5 = (batch, groups, heads // groups, queries, k.shape(keys)[1])
    dropped, keep = weights, None
    if p:
        dropped, keep = dropout_in_primitives(k, weights, seed, offset, p)
    if want & 0b100:
        dv = _served_in(k, _times(k, _turned(k, k.reshape(dropped, shape5)), g5))
    if want & 0b011:
        dweights = k.reshape(_times(k, g5, _turned(k, v5)), k.shape(s))
        if keep is not None:
            dweights = dropout_backward_in_primitives(k, dweights, keep, p)
        towards = k.permute(k.sum(k.mul(g, out), (3,), True), (0, 2, 1, 3))
        ds = k.mul(weights, k.add(dweights, k.neg(towards)))
        ds = k.reshape(ds, shape5)
        if want & 0b001:
            dq5 = k.reshape(_times(k, ds, k5, scale), (batch, heads, queries, -1))
            dq = k.contiguous(k.permute(dq5, (0, 2, 1, 3)))
        if want & 0b010:
            dk = _served_in(k, _times(k, _turned(k, ds), q5, scale))
    return dq, dk, dv


def _served_in(k: Any, d: Array) -> Array:
    """Sum ``[B, G, R, T, D]`` over R; the result is ``[B, T, G, D]``."""
    return k.contiguous(k.permute(k.sum(d, (2,), False), (0, 2, 1, 3)))
