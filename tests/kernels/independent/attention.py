# SPDX-License-Identifier: MIT
"""Attention, a weight at a time."""

from __future__ import annotations

import math

import numpy as np
from tests.kernels.independent.common import Case, gradients, normal
from tests.kernels.independent.random_numbers import STREAM, words

_Q, _K, _V = normal(2, 3, 4, 3), normal(2, 5, 2, 3), normal(2, 5, 2, 2)


def _attention(q, k, v, mask, scale, causal, keep):
    """Return the results, and the logarithms of the sums of exponentials."""
    batch, queries, heads, _ = q.shape
    keys, groups = k.shape[1:3]
    shift = keys - queries if causal == "lower_right" else 0
    out, lse = np.zeros((*q.shape[:3], v.shape[3])), np.empty((batch, heads, queries))
    for b, h, i in np.ndindex(batch, heads, queries):
        group = h // (heads // groups)
        scores = {
            j: scale * math.fsum(q[b, i, h] * k[b, j, group]) + mask[b, h, i, j]
            for j in range(keys)
            if causal == "none" or j <= i + shift
        }
        total = math.fsum(math.exp(s) for s in scores.values())
        for j, s in scores.items():
            out[b, i, h] += math.exp(s) / total * keep[b, h, i, j] * v[b, j, group]
        lse[b, h, i] = math.log(total)
    return out, lse


def _calls():
    """Yield operands, attributes, and by what each weight is multiplied."""
    mask = normal(2, 4, 3, 5)
    for causal in ("none", "upper_left", "lower_right"):
        yield (_Q, _K, _V, mask, None, None), (0.5, causal, 0.0), np.ones(mask.shape)
    kept = [w / 2**24 >= 0.25 for w in words(mask.size, 24)]
    keep = np.reshape(kept, mask.shape) / 0.75
    yield (_Q, _K, _V, mask, *STREAM), (0.5, "none", 0.25), keep


def _forward():
    for given, attributes, keep in _calls():
        found = _attention(*given[:4], *attributes[:2], keep)
        yield Case(given, attributes, found)


def _backward():
    for (q, k, v, mask, *stream), attributes, keep in _calls():
        out, lse = _attention(q, k, v, mask, *attributes[:2], keep)
        g = normal(*out.shape, seed=1)

        def forward(*qkv, mask=mask, attributes=attributes, keep=keep):
            return _attention(*qkv, mask, *attributes[:2], keep)[0]

        found = gradients(forward, (q, k, v), g)
        for one in (lse, None):
            yield Case((g, q, k, v, out, one, mask, *stream), attributes, found)


CASES = {"attention": _forward, "attention_backward": _backward}
