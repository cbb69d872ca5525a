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

from typing import Any

from autocalc._kernels._legacy import _budgets_attention as budgets
from autocalc._kernels._legacy import _references_attention as references
from autocalc._kernels._legacy import _samples_attention as samples
from autocalc._kernels._legacy._attention_in_primitives import (
    attention_backward_in_primitives,
    attention_in_primitives,
)
from autocalc._kernels.rules import (
    BOOL,
    expect_ndim,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels.spec import KernelSpec, Meta, Work
from autocalc._kernels.work import nbytes
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
        reference=references.attention,
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
        reference=references.attention_backward,
        decomposition=attention_backward_in_primitives,
        lead="gemm",
        budget=budgets.attention_backward,
        samples=samples.attention_backward,
        work=_backward_work,
        key="shapes",
    ),
)
