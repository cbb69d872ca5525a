# SPDX-License-Identifier: MIT
"""The gradients of attention.

For one head, the scores are S = scale * Q K^T, the weights are P = softmax(S), and the
result is P V (Vaswani et al., Attention is all you need, 2017, equation 1).  Operands
have the shape ``[B, S, H, D]``: batch, position, head, features.  A slice of a
projection's result ``[B, S, 3 H D]`` can be used without a copy.  Keys and values may
have fewer heads than queries; each of their heads then serves an equal number of
adjacent query heads (Ainslie et al., GQA, 2023).

The backward kernel does not need the weights.  It recomputes P = exp(S - lse), where
`lse` is each row's logarithm of the sum of exponentials (Dao et al., FlashAttention,
2022, section 3.1).  A large `lse` is not precise enough for this; then P = softmax(S)
is computed again, so that each row sums to 1::

    dV = P^T G    dS = P * (G V^T - sum(G * out))    dQ = scale * dS K

In a row without any allowed key, the result and the gradient are 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.attention._scores import (
    by_groups,
    by_places,
    calls,
    check,
    in_bfloat16,
    scores,
    terms,
    turned,
    weights_of,
)
from autocalc._kernels.attention.attention import attention_reference
from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, absent, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.random._streams import keep_scale
from autocalc._kernels.random.dropout import dropout, dropout_backward
from autocalc._kernels.rules import expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample, Work
from autocalc._kernels.work import nbytes

attention_backward = composite(
    "attention_backward",
    "dq? dk? dv? ; g q k v out lse? mask? seed? offset? ; "
    "scale:float causal:none,upper_left,lower_right p:float",
    "The gradients of attention. The weights are computed again: P = exp(scale * q k^T "
    "- lse), or by softmax if there is no lse or it is large; dS = P * (g v^T - sum(g "
    "* out)); dq = scale * dS k, dk = scale * dS^T q, dv = P^T g.",
    key="shapes",
    flushes=("dq", "dk", "dv"),
)


@attention_backward.rule
def _(
    g: Meta,
    q: Meta,
    k: Meta,
    v: Meta,
    out: Meta,
    lse: Meta | None,
    mask: Meta | None,
    seed: Meta | None,
    offset: Meta | None,
    scale: float,
    causal: str,
    p: float,
) -> tuple[Meta, Meta, Meta]:
    name = "attention_backward"
    sums = () if lse is None else (lse,)
    dtype = float_dtype(name, g, q, k, v, out, *sums)
    check(name, q, k, v, mask, seed, p)
    batch, queries, heads, _ = q.shape
    for word, meta in (("g", g), ("out", out)):
        expect_shape(name, word, meta, (batch, queries, heads, v.shape[3]))
    if lse is not None:
        expect_shape(name, "lse", lse, (batch, heads, queries))
    return Meta(q.shape, dtype), Meta(k.shape, dtype), Meta(v.shape, dtype)


def served(xp: Any, d: Array) -> Array:
    """Sum ``[B, G, R, T, D]`` over R; the result is ``[B, T, G, D]``."""
    return xp.sum(d, axis=2).transpose((0, 2, 1, 3))


@attention_backward.formula(lead="gemm")
def _(
    xp: Any,
    g: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    lse: Array | None,
    mask: Array | None,
    seed: Array | None,
    offset: Array | None,
    scale: float,
    causal: str,
    p: float,
    *,
    want: int = -1,
) -> tuple[Array | None, Array | None, Array | None]:
    groups = k.shape[2]
    q5, k5, v5, g5 = (by_groups(wide(xp, a), groups) for a in (q, k, v, g))
    s = scores(xp, q5, k5, mask, scale, causal)
    dropped = weights = weights_of(xp, s, lse)
    shape5 = (*q5.shape[:4], k.shape[1])
    dq = dk = dv = None
    if p:
        dropped, keep = dropout(xp, weights, seed, offset, p)
    if want & 0b100:
        dv = served(xp, xp.matmul(turned(dropped.reshape(shape5)), g5))
    if want & 0b011:
        dweights = xp.matmul(g5, turned(v5)).reshape(s.shape)
        if p:
            dweights = dropout_backward(xp, dweights, keep, p)
        along = xp.sum(wide(xp, g) * wide(xp, out), axis=3, keepdims=True)
        ds = weights * (dweights - along.transpose((0, 2, 1, 3)))
        ds = ds.reshape(shape5)
        if want & 0b001:
            dq = by_places(scale * xp.matmul(ds, k5))
        if want & 0b010:
            dk = served(xp, xp.matmul(turned(ds), scale * q5))
    each = zip((dq, dk, dv), (q, k, v), strict=True)
    dq, dk, dv = (None if d is None else narrow(d, like) for d, like in each)
    return dq, dk, dv


@attention_backward.budget(
    "the errors of weights and products, carried through the formulas"
)
def backward_budget(
    inputs: Inputs,
    attributes: Attributes,
    expected: Inputs,
    eps: float,
    rounded: float = 0.0,
) -> Limits:
    g, q, k, v, out, lse, *more = inputs
    scale, causal, p = attributes
    whole = terms(q, k, v, (more[0], None, None), (scale, causal, 0.0), eps, lse)
    dropped = terms(q, k, v, more, attributes, eps, lse)
    g_, out_ = (np.swapaxes(np.abs(np.asarray(a, np.float64)), 1, 2) for a in (g, out))
    queries, keys = whole.off.shape[-2:]
    features = whole.v.shape[-1]
    dweights = np.matmul(g_, np.swapaxes(whole.v, -1, -2)) * keep_scale(p)
    delta = np.sum(g_ * out_, axis=-1, keepdims=True)
    ds = whole.weights * (dweights + delta)
    ds_off = whole.off * (dweights + delta) + (features + 6) * eps * ds
    along_keys, along_queries = ((n + 2) * eps + rounded for n in (keys, queries))
    dq = whole.scale * np.matmul(ds_off + along_keys * ds, whole.k)
    turned = np.swapaxes(ds_off + along_queries * ds, -1, -2)
    dk = whole.scale * np.matmul(turned, whole.q)
    off = dropped.off + along_queries * dropped.weights
    dv = np.matmul(np.swapaxes(off, -1, -2), g_)
    groups = k.shape[2]
    grouped = (dk.shape[0], groups, dk.shape[1] // max(groups, 1), keys)
    of_groups = (d.reshape(*grouped, d.shape[3]) for d in (dk, dv))
    limits = (np.swapaxes(dq, 1, 2), *(served(numpy_xp, d) for d in of_groups))
    return [
        None if e is None else limit + ulp(e, eps)
        for limit, e in zip(limits, expected, strict=True)
    ]


attention_backward.exception(
    "bfloat16",
    Budget(
        "the same, 2**-8 of weights and of the gradients of scores, and 2**-125 of all "
        "that is summed",
        in_bfloat16(backward_budget.tolerance),
    ),
)


@attention_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for label, operands, attributes in calls(make):
        q, v = operands[0], operands[2]
        with np.errstate(all="ignore"):
            out, lse = attention_reference(numpy_xp, *operands, *attributes)
        g = make.normal(*q.shape[:3], v.shape[3])
        inputs = (g, *operands[:3], out, lse, *operands[3:])
        yield Sample(label, inputs, attributes, want=0b111)
        if label in ("numbers", "nothing allowed, causal", "dropout 0.25", "large"):
            again = (*inputs[:5], None, *inputs[6:])
            yield Sample(f"{label}, no sums", again, attributes, want=0b111)


def _backward_work(g: Meta, q: Meta, k: Meta, v: Meta, *rest: Any) -> Work:
    batch, queries, heads, features = q.shape
    pairs = batch * heads * queries * k.shape[1]
    flops = 2.0 * pairs * (3 * features + 2 * v.shape[3])
    metas = (g, q, k, v, *(x for x in rest if isinstance(x, Meta)))
    return Work(flops, nbytes(*metas, q, k, v))


attention_backward.work(_backward_work)
attention_backward.benchmarks(
    Case(
        "8x128x4x32, causal",
        join(*[floats(8, 128, 4, 32)] * 5, floats(8, 4, 128), *[absent] * 3),
        (32**-0.5, "upper_left", 0.0),
        0b111,
    )
)
