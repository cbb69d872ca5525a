# SPDX-License-Identifier: MIT
"""Scaled dot-product attention over all heads in one kernel.

For one head, the scores are S = scale * Q K^T, the weights are P = softmax(S), and the
result is P V (Vaswani et al., Attention is all you need, 2017, equation 1).  Operands
have the shape ``[B, S, H, D]``: batch, position, head, features.  A slice of a
projection's result ``[B, S, 3 H D]`` can be used without a copy.  Keys and values may
have fewer heads than queries; each of their heads then serves an equal number of
adjacent query heads (Ainslie et al., GQA, 2023).

The backward kernel does not need the weights.  It recomputes P = exp(S - lse), where
`lse` is each row's logarithm of the sum of exponentials (Dao et al., FlashAttention,
2022, section 3.1)::

    dV = P^T G    dS = P * (G V^T - sum(G * out))    dQ = scale * dS K

In a row without any allowed key, the result and the gradient are 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.attention._scores import (
    by_groups,
    by_places,
    calls,
    check,
    exponentials,
    in_bfloat16,
    scores,
    terms,
)
from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.random.dropout import dropout
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample, Work
from autocalc._kernels.work import nbytes

attention = composite(
    "attention",
    "out lse? ; q k v mask? seed? offset? ; "
    "scale:float causal:none,upper_left,lower_right p:float",
    "softmax(scale * q k^T) v over heads: q [B, S, H, D], k [B, T, G, D], v [B, T, G, "
    "E]; lse [B, H, S]. `mask` has booleans that select keys, or numbers that are "
    "added to the scores. The weights get dropout with probability p.",
    key="shapes",
    flushes=("out",),
)


@attention.rule
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
    check("attention", q, k, v, mask, seed, p)
    batch, queries, heads, _ = q.shape
    out = Meta((batch, queries, heads, v.shape[3]), dtype)
    return out, Meta((batch, heads, queries), dtype)


@attention.formula(lead="gemm")
def attention_reference(
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
) -> tuple[Array, Array | None]:
    groups = k.shape[2]
    q5, k5, v5 = (by_groups(wide(xp, a), groups) for a in (q, k, v))
    s = scores(xp, q5, k5, mask, scale, causal)
    e, top, total = exponentials(xp, s)
    weights = e / xp.where(total == 0, 1.0, total)
    if p:
        weights, _ = dropout(xp, weights, seed, offset, p)
    out = by_places(xp.matmul(weights.reshape(*q5.shape[:4], k.shape[1]), v5))
    lse = None
    if want & 0b10:
        lse = narrow((top + xp.log(total)).reshape(s.shape[:3]), q)
    return narrow(out, q), lse


@attention.budget("the weights' errors times |v|; (T + 2) eps of what is summed")
def attention_budget(
    inputs: Inputs,
    attributes: Attributes,
    expected: Inputs,
    eps: float,
    rounded: float = 0.0,
) -> Limits:
    q, k, v, *more = inputs
    t = terms(q, k, v, more, attributes, eps)
    off = t.off + ((t.v.shape[-2] + 2) * eps + rounded) * t.weights
    out = np.swapaxes(np.matmul(off, t.v), 1, 2)
    lse = expected[1]
    if lse is not None:
        # Relative errors of the sum without dropout are absolute errors of its
        # logarithm.
        mask, scale, causal = more[0], *attributes[:2]
        whole = t
        if attributes[2]:
            whole = terms(q, k, v, (mask, None, None), (scale, causal, 0.0), eps)
        worst = np.sum(whole.off, axis=-1) + 4 * eps
        size = np.where(np.isfinite(lse), np.abs(lse), 0)
        lse = worst + 4 * eps * size + ulp(lse, eps)
    return [out + ulp(expected[0], eps), lse]


attention.exception(
    "bfloat16",
    Budget(
        "the same, 2**-8 of each weight times |v|, and 2**-125 of all that is summed",
        in_bfloat16(attention_budget.tolerance),
    ),
)


@attention.samples
def _(make: Make) -> Iterator[Sample]:
    for label, operands, attributes in calls(make):
        yield Sample(label, operands, attributes, want=0b10)


def _attention_work(q: Meta, k: Meta, v: Meta, *rest: Any) -> Work:
    batch, queries, heads, features = q.shape
    pairs = batch * heads * queries * k.shape[1]
    flops = 2.0 * pairs * (features + v.shape[3])
    metas = (q, k, v, *(x for x in rest if isinstance(x, Meta)))
    return Work(flops, nbytes(*metas, *_attention_rule(q, k, v, *rest)))


attention.work(_attention_work)


@attention.benchmarks
def _() -> Iterator[Case]:
    for batch, steps, heads, size in ((8, 128, 4, 32), (1, 2048, 8, 64)):
        q = floats(batch, steps, heads, size)
        label = f"{batch}x{steps}x{heads}x{size}, causal"
        operands = join(q, q, q, *[absent] * 3)
        yield Case(label, operands, (size**-0.5, "upper_left", 0.0))
