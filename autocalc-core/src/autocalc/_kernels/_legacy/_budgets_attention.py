# SPDX-License-Identifier: MIT
"""Error budgets of attention: what the errors of the scores do to the weights.

A score is off by (D + 4) eps of the sum of its terms' sizes; a weight, relatively, by
as much as its own score and the row's sum together, and a few roundings more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _references_attention as references
from autocalc._kernels._legacy._budgets import Inputs, budget, log2, ulp
from autocalc._kernels._legacy.random import dropout_mask, keep_scale
from autocalc._kernels.spec import Array, Attributes


class _Terms(NamedTuple):
    """Head by head: sizes of the operands, weights, and how far they may be off."""

    q: Array
    k: Array
    v: Array
    weights: Array
    off: Array  # how far each weight may be off
    scale: float


def _terms(
    q: Any,
    k: Any,
    v: Any,
    more: Inputs,
    attributes: Attributes,
    eps: float,
    lse: Any = None,
) -> _Terms:
    q, k, v = (np.asarray(a, np.float64) for a in (q, k, v))
    mask, seed, offset = more
    scale, causal, p = attributes
    heads = references.heads_of(numpy_xp, q, k, v)
    s = references.scores(numpy_xp, heads, mask, scale, causal)
    sizes = references.Heads(*(np.abs(a) for a in heads))
    size = abs(scale) * np.matmul(sizes.q, np.swapaxes(sizes.k, -1, -2))
    if mask is not None and mask.dtype != bool:
        size = size + np.abs(np.asarray(mask, np.float64))
    allowed = np.isfinite(s)
    moved = np.where(allowed, (q.shape[-1] + 4) * eps * size, 0)
    top = np.max(np.where(allowed, s, -np.inf), axis=-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    if lse is None:
        e = np.where(allowed, np.exp(s - top), 0)
        total = e.sum(axis=-1, keepdims=True)
        weights = e / np.where(total == 0, 1, total)
    else:
        top = np.where(np.isfinite(lse), np.asarray(lse, np.float64), 0)[..., None]
        weights = np.where(allowed, np.exp(s - top), 0)
    steps = (log2(s.shape[-1]) + 8) * eps
    # An exponential's argument is rounded too: eps of its own size.
    spread = eps * np.where(allowed, np.abs(s - top) + np.abs(top), 0)
    worst = np.max(moved + spread, axis=-1, keepdims=True, initial=0)
    relative = np.expm1(moved + spread + worst) + steps
    if p:
        keep = dropout_mask(numpy_xp, seed, offset, s.shape, p)
        weights = np.where(keep, weights * keep_scale(p), 0)
    # Weights below the normal numbers have no relative accuracy.
    dtype = np.float32 if eps > 1e-10 else np.float64
    off = weights * relative + 2 * float(np.finfo(dtype).smallest_subnormal)
    return _Terms(*sizes, weights, np.where(allowed, off, 0), abs(scale))


@budget("the weights' errors times |v|; (T + 2) eps of what is summed")
def attention(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    q, k, v, *more = inputs
    t = _terms(q, k, v, more, attributes, eps)
    off = t.off + (t.v.shape[-2] + 2) * eps * t.weights
    out = np.swapaxes(np.matmul(off, t.v), 1, 2)
    lse = expected[1]
    if lse is not None:
        # Relative errors of the undropped sum are absolute ones of its logarithm.
        mask, scale, causal = more[0], *attributes[:2]
        whole = t
        if attributes[2]:
            whole = _terms(q, k, v, (mask, None, None), (scale, causal, 0.0), eps)
        worst = np.sum(whole.off, axis=-1) + 4 * eps
        size = np.where(np.isfinite(lse), np.abs(lse), 0)
        lse = worst + 4 * eps * size + ulp(lse, eps)
    return [out + ulp(expected[0], eps), lse]


@budget("the errors of weights and products, carried through the formulas")
def attention_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, q, k, v, out, lse, *more = inputs
    scale, causal, p = attributes
    whole = _terms(q, k, v, (more[0], None, None), (scale, causal, 0.0), eps, lse)
    dropped = _terms(q, k, v, more, attributes, eps, lse)
    g_, out_ = (np.swapaxes(np.abs(np.asarray(a, np.float64)), 1, 2) for a in (g, out))
    queries, keys = whole.off.shape[-2:]
    features = whole.v.shape[-1]
    dweights = np.matmul(g_, np.swapaxes(whole.v, -1, -2)) * keep_scale(p)
    towards = np.sum(g_ * out_, axis=-1, keepdims=True)
    ds = whole.weights * (dweights + towards)
    ds_off = whole.off * (dweights + towards) + (features + 6) * eps * ds
    dq = whole.scale * np.matmul(ds_off + (keys + 2) * eps * ds, whole.k)
    turned = np.swapaxes(ds_off + (queries + 2) * eps * ds, -1, -2)
    dk = whole.scale * np.matmul(turned, whole.q)
    off = dropped.off + (queries + 2) * eps * dropped.weights
    dv = np.matmul(np.swapaxes(off, -1, -2), g_)
    limits = (
        np.swapaxes(dq, 1, 2),
        references.served(numpy_xp, dk, np.asarray(k, np.float64)),
        references.served(numpy_xp, dv, np.asarray(v, np.float64)),
    )
    return [
        None if e is None else limit + ulp(e, eps)
        for limit, e in zip(limits, expected, strict=True)
    ]
