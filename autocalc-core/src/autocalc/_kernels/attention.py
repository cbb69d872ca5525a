# SPDX-License-Identifier: MIT
"""Attention over all heads, forward and backward, each as one kernel.

With one head, scores S = scale * Q K^T, weights P = softmax(S) and result P V
(Vaswani et al., Attention is all you need, 2017, equation 1).  Operands are
``[B, S, H, D]``: batch, position, head, features; a slice of a projection's result
``[B, S, 3 H D]`` is such an operand without a copy.  Keys and values may have fewer
heads than queries, each serving as many neighbours (Ainslie et al., GQA, 2023).

Backward needs no weights: it computes P = exp(S - lse) again from the row's logarithm
of the sum of exponentials (Dao et al., FlashAttention, 2022, section 3.1)::

    dV = P^T G    dS = P * (G V^T - sum(G * out))    dQ = scale * dS K

A row in which nothing may be attended to has the result 0 and the gradient 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._kernels import _budgets_attention as budgets
from autocalc._kernels import _samples_attention as samples
from autocalc._kernels._attention_in_primitives import (
    attention_backward_in_primitives,
    attention_in_primitives,
    shift,
)
from autocalc._kernels._rules import (
    BOOL,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels._spec import Array, KernelSpec, Meta, Work
from autocalc._kernels._wide import narrow, wide
from autocalc._kernels._work import nbytes
from autocalc._kernels.random import dropout_mask, keep_scale
from autocalc.errors import ShapeError

# ---- rules ---------------------------------------------------------------------------


def _check(
    name: str, q: Meta, k: Meta, v: Meta, mask: Meta | None, seed: Meta | None, p: float
) -> None:
    for word, meta in (("q", q), ("k", k), ("v", v)):
        expect_ndim(name, word, meta, 4)
    batch, queries, heads, features = q.shape
    keys, groups = k.shape[1:3]
    expect_shape(name, "k", k, (batch, keys, groups, features))
    expect_shape(name, "v", v, (batch, keys, groups, v.shape[3]))
    if heads != groups and (groups == 0 or heads % groups):
        message = (
            f"{name}: {heads} heads of queries, {groups} of keys and values; each of "
            f"these must serve as many of those."
        )
        raise ShapeError(message)
    if mask is not None:
        one_of(name, "mask", mask, (BOOL, q.dtype))
        scores = (batch, heads, queries, keys)
        fits = len(mask.shape) == 4 and all(
            m in (1, n) for m, n in zip(mask.shape, scores, strict=True)
        )
        if not fits:
            message = (
                f"{name}: `mask` has shape {mask.shape}; each of its four dimensions "
                f"must be 1 or that of the scores, {scores}."
            )
            raise ShapeError(message)
    if p and seed is None:
        message = f"{name}: dropout of {p} needs `seed` and `offset`."
        raise ShapeError(message)


def _attention_rule(
    q: Meta,
    k: Meta,
    v: Meta,
    mask: Meta | None,
    seed: Meta | None,
    offset: Meta | None,
    scale: float,
    causal: str,
    p: float,
) -> tuple[Meta, Meta]:
    dtype = float_dtype("attention", q, k, v)
    _check("attention", q, k, v, mask, seed, p)
    batch, queries, heads, _ = q.shape
    out = Meta((batch, queries, heads, v.shape[3]), dtype)
    return out, Meta((batch, heads, queries), dtype)


def _backward_rule(
    g: Meta,
    q: Meta,
    k: Meta,
    v: Meta,
    out: Meta,
    lse: Meta,
    mask: Meta | None,
    seed: Meta | None,
    offset: Meta | None,
    scale: float,
    causal: str,
    p: float,
) -> tuple[Meta, Meta, Meta]:
    name = "attention_backward"
    dtype = float_dtype(name, g, q, k, v, out, lse)
    _check(name, q, k, v, mask, seed, p)
    batch, queries, heads, _ = q.shape
    for word, meta in (("g", g), ("out", out)):
        expect_shape(name, word, meta, (batch, queries, heads, v.shape[3]))
    expect_shape(name, "lse", lse, (batch, heads, queries))
    return Meta(q.shape, dtype), Meta(k.shape, dtype), Meta(v.shape, dtype)


# ---- references ----------------------------------------------------------------------


class _Heads(NamedTuple):
    """Operands head by head, keys and values repeated for the heads they serve."""

    q: Array  # [B, H, S, D]
    k: Array  # [B, H, T, D]
    v: Array  # [B, H, T, E]


def _heads(xp: Any, q: Array, k: Array, v: Array) -> _Heads:
    times = q.shape[2] // max(k.shape[2], 1)
    k, v = (xp.repeat(wide(xp, a), times, axis=2) for a in (k, v))
    return _Heads(*(xp.swapaxes(a, 1, 2) for a in (wide(xp, q), k, v)))


def _scores(
    xp: Any, heads: _Heads, mask: Array | None, scale: float, causal: str
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
    heads = _heads(xp, q, k, v)
    s = _scores(xp, heads, mask, scale, causal)
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
    heads = _heads(xp, q, k, v)
    s = _scores(xp, heads, mask, scale, causal)
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
    return narrow(dq, q), _served(xp, dk, k), _served(xp, dv, v)


def _served(xp: Any, d: Array, like: Array) -> Array:
    """Sum ``[B, H, T, D]`` over the heads that each head of `like` serves."""
    batch, keys, groups, features = like.shape
    times = d.shape[1] // max(groups, 1)
    parts = d.reshape(batch, groups, times, keys, features)
    return narrow(xp.swapaxes(xp.sum(parts, axis=2), 1, 2), like)


# ---- specs ---------------------------------------------------------------------------


def _attention_work(q: Meta, k: Meta, v: Meta, *rest: Any) -> Work:
    batch, queries, heads, features = q.shape
    pairs = batch * heads * queries * k.shape[1]
    flops = 2.0 * pairs * (features + v.shape[3])
    metas = (q, k, v, *(x for x in rest if isinstance(x, Meta)))
    return Work(flops, nbytes(*metas, *_attention_rule(q, k, v, *rest)))


def _backward_work(g: Meta, q: Meta, k: Meta, v: Meta, *rest: Any) -> Work:
    batch, queries, heads, features = q.shape
    pairs = batch * heads * queries * k.shape[1]
    flops = 2.0 * pairs * (3 * features + 2 * v.shape[3])
    metas = (g, q, k, v, *(x for x in rest if isinstance(x, Meta)))
    return Work(flops, nbytes(*metas, q, k, v))


SPECS = (
    KernelSpec(
        name="attention",
        kind="composite",
        signature=(
            "out lse? ; q k v mask? seed? offset? ; "
            "scale:float causal:none,upper_left,lower_right p:float"
        ),
        doc=(
            "softmax(scale * q k^T) v over heads: q [B, S, H, D], k [B, T, G, D], v "
            "[B, T, G, E]; lse [B, H, S]. mask: booleans that choose, or numbers that "
            "are added; dropout of the weights with probability p."
        ),
        rule=_attention_rule,
        reference=attention,
        decomposition=attention_in_primitives,
        lead="gemm",
        budget=budgets.attention,
        samples=samples.attention,
        work=_attention_work,
        key="shapes",
    ),
    KernelSpec(
        name="attention_backward",
        kind="composite",
        signature=(
            "dq? dk? dv? ; g q k v out lse mask? seed? offset? ; "
            "scale:float causal:none,upper_left,lower_right p:float"
        ),
        doc=(
            "The gradients of attention, its weights computed again: P = exp(scale * "
            "q k^T - lse), dS = P * (g v^T - sum(g * out)); dq = scale * dS k, dk = "
            "scale * dS^T q, dv = P^T g."
        ),
        rule=_backward_rule,
        reference=attention_backward,
        decomposition=attention_backward_in_primitives,
        lead="gemm",
        budget=budgets.attention_backward,
        samples=samples.attention_backward,
        work=_backward_work,
        key="shapes",
    ),
)
