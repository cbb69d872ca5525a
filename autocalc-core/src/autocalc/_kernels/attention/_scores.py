# SPDX-License-Identifier: MIT
"""Scores, masks and dropout, which both attention kernels use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits, Tolerance, log2, smallest
from autocalc._kernels.precision import wide
from autocalc._kernels.random._streams import keep_scale
from autocalc._kernels.random.random_bits import dropout_mask
from autocalc._kernels.rules import BOOL, expect_ndim, expect_shape, one_of
from autocalc._kernels.samples import Make, int64
from autocalc._kernels.spec import Array, Attributes, Meta
from autocalc.errors import ShapeError


def shift(causal: str, queries: int, keys: int) -> int:
    """Return how many keys after key 0 the first query attends to."""
    return keys - queries if causal == "lower_right" else 0


def by_groups(a: Array, groups: int) -> Array:
    """Return ``[B, S, H, D]`` as ``[B, G, R, S, D]``: R heads for each of G groups."""
    batch, places, heads, features = a.shape
    shape = (batch, groups, heads // max(groups, 1), places, features)
    return a.transpose((0, 2, 1, 3)).reshape(shape)


def by_places(a: Array) -> Array:
    """Return ``[B, G, R, S, D]`` as ``[B, S, H, D]``."""
    batch, groups, times, places, features = a.shape
    heads = a.reshape(batch, groups * times, places, features)
    return heads.transpose((0, 2, 1, 3))


def turned(a: Array) -> Array:
    return a.transpose((0, 1, 2, 4, 3))


def scores(
    xp: Any, q5: Array, k5: Array, mask: Array | None, scale: float, causal: str
) -> Array:
    """Return the scores ``[B, H, S, T]``; they are -inf where attention is masked."""
    s = xp.matmul(scale * q5, turned(k5))
    batch, groups, times, queries, keys = s.shape
    s = s.reshape(batch, groups * times, queries, keys)
    if mask is not None:
        s = xp.where(mask, s, -xp.inf) if mask.dtype == BOOL else s + wide(xp, mask)
    if causal != "none":
        last = xp.arange(queries).reshape(queries, 1) + shift(causal, queries, keys)
        s = xp.where(xp.arange(keys) <= last, s, -xp.inf)
    return s


#: The largest `lse` with sufficient precision; weights have an error of `lse` eps.
LARGE = 32.0


def exponentials(xp: Any, s: Array) -> tuple[Array, Array, Array]:
    """Return exp(score - row maximum), the row maxima, and the exponentials' sums."""
    top = xp.max(s, axis=-1, keepdims=True, initial=-xp.inf)
    top = xp.where(top == -xp.inf, 0.0, top)
    e = xp.exp(s - top)
    return e, top, xp.sum(e, axis=-1, keepdims=True)


def weights_of(xp: Any, s: Array, lse: Array | None) -> Array:
    """Return exp(s - lse) if `lse` is small, otherwise the softmax of the scores.

    The weights are 0 in a row without any allowed key.
    """
    e, top, total = exponentials(xp, s)
    weights = e / xp.where(total == 0, 1.0, total)
    if lse is None:
        return weights
    sums = wide(xp, lse).reshape(*lse.shape, 1)
    small = xp.absolute(sums) <= LARGE
    return xp.where(small, xp.exp(s - xp.where(small, sums, top)), weights)


class Terms(NamedTuple):
    """For each head: sizes of the operands, the weights, and the weights' errors."""

    q: Array
    k: Array
    v: Array
    weights: Array
    off: Array  # the largest error of each weight
    scale: float


class Heads(NamedTuple):
    """The operands of each head; keys and values are repeated for their query heads."""

    q: Array  # [B, H, S, D]
    k: Array  # [B, H, T, D]
    v: Array  # [B, H, T, E]


def heads_of(xp: Any, q: Array, k: Array, v: Array) -> Heads:
    times = q.shape[2] // max(k.shape[2], 1)
    k, v = (xp.repeat(wide(xp, a), times, axis=2) for a in (k, v))
    return Heads(*(xp.swapaxes(a, 1, 2) for a in (wide(xp, q), k, v)))


def terms(
    q: Any,
    k: Any,
    v: Any,
    more: Inputs,
    attributes: Attributes,
    eps: float,
    lse: Any = None,
) -> Terms:
    q, k, v = (np.asarray(a, np.float64) for a in (q, k, v))
    mask, seed, offset = more
    scale, causal, p = attributes
    heads = heads_of(numpy_xp, q, k, v)
    q5, k5 = by_groups(q, k.shape[2]), by_groups(k, k.shape[2])
    s = scores(numpy_xp, q5, k5, mask, scale, causal)
    sizes = Heads(*(np.abs(a) for a in heads))
    size = abs(scale) * np.matmul(sizes.q, np.swapaxes(sizes.k, -1, -2))
    if mask is not None and mask.dtype != bool:
        size = size + np.abs(np.asarray(mask, np.float64))
    allowed = np.isfinite(s)
    moved = np.where(allowed, (q.shape[-1] + 4) * eps * size, 0)
    top = np.max(np.where(allowed, s, -np.inf), axis=-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    weights = np.where(allowed, weights_of(numpy_xp, s, lse), 0)
    steps = (log2(s.shape[-1]) + 8) * eps
    # The argument of an exponential is rounded as well, by eps times its size.
    spread = eps * np.where(allowed, np.abs(s - top) + np.abs(top), 0)
    worst = np.max(moved + spread, axis=-1, keepdims=True, initial=0)
    relative = np.expm1(moved + spread + worst) + steps
    if p:
        keep = dropout_mask(numpy_xp, seed, offset, s.shape, p)
        weights = np.where(keep, weights * keep_scale(p), 0)
    # Subnormal weights count as 0.
    off = weights * relative + 2 * smallest(eps)
    return Terms(*sizes, weights, np.where(allowed, off, 0), abs(scale))


#: (B, S, T, H, G, D, E)
SIZES = (
    (1, 1, 1, 1, 1, 1, 1),
    (2, 3, 3, 2, 2, 4, 4),
    (1, 5, 7, 4, 2, 3, 6),
    (2, 17, 33, 3, 1, 16, 9),
    (1, 65, 64, 2, 2, 32, 32),
    (1, 1, 40, 4, 4, 8, 8),
    (0, 3, 3, 2, 2, 4, 4),
    (2, 0, 3, 2, 2, 4, 4),
    (2, 3, 0, 2, 2, 4, 4),
)


Operands = tuple[Any, ...]


def operands(make: Make, b: int, s: int, t: int, h: int, g: int, d: int, e: int,
              ) -> tuple[Array, Array, Array]:  # fmt: skip
    return make.normal(b, s, h, d), make.normal(b, t, g, d), make.normal(b, t, g, e)


def calls(make: Make) -> Iterator[tuple[str, Operands, Operands]]:
    """Yield (label, q k v mask seed offset, attributes)."""
    none = (None, None, None)
    for sizes in SIZES:
        scale = float(sizes[5]) ** -0.5
        qkv = operands(make, *sizes)
        yield f"{sizes}", (*qkv, *none), (scale, "none", 0.0)
        for causal in ("upper_left", "lower_right"):
            yield f"{sizes}, {causal}", (*qkv, *none), (scale, causal, 0.0)
    qkv = operands(make, 2, 6, 9, 4, 2, 8, 8)
    masks = {
        "booleans": make.mask(2, 4, 6, 9),
        "one row of booleans": make.mask(2, 1, 1, 9),
        "numbers": make.normal(1, 4, 6, 9),
        "nothing allowed": np.zeros((1, 1, 6, 1), bool),
    }
    for label, mask in masks.items():
        yield label, (*qkv, mask, None, None), (0.5, "none", 0.0)
        yield f"{label}, causal", (*qkv, mask, None, None), (0.5, "lower_right", 0.0)
    for p in (0.25, 1.0):
        counter = (None, int64(7), int64(11))
        yield f"dropout {p}", (*qkv, *counter), (0.5, "upper_left", p)
    steep = operands(make, 1, 9, 9, 1, 1, 8, 8)
    yield "scores of hundreds", (steep[0] * 100, *steep[1:], *none), (1.0, "none", 0.0)
    ones, falling = np.ones((1, 5, 1, 1), make.dtype), make.falling(1, 1, 1, 129)
    each = np.eye(129, dtype=make.dtype).reshape(1, 129, 1, 129)
    one_key_each = ones, falling.reshape(1, 129, 1, 1), each
    yield "falling scores", (*one_key_each, *none), (1.0, "none", 0.0)
    large = operands(make, 2, 130, 130, 4, 2, 32, 32)
    yield "large", (*large, *none), (32**-0.5, "lower_right", 0.0)


def check(
    name: str, q: Meta, k: Meta, v: Meta, mask: Meta | None, seed: Meta | None, p: float
) -> None:
    for word, meta in (("q", q), ("k", k), ("v", v)):
        expect_ndim(name, word, meta, 4)
    batch, queries, heads, features = q.shape
    keys, groups = k.shape[1:3]
    expect_shape(name, "k", k, (batch, keys, groups, features))
    expect_shape(name, "v", v, (batch, keys, groups, v.shape[3]))
    if heads != groups and (groups == 0 or heads % groups):
        raise ShapeError(
            f"{name}: there are {heads} heads of queries, and {groups} heads of keys "
            "and values; the first number must be a multiple of the second."
        )
    if mask is not None:
        one_of(name, "mask", mask, (BOOL, q.dtype))
        scores = (batch, heads, queries, keys)
        fits = len(mask.shape) == 4 and all(
            m in (1, n) for m, n in zip(mask.shape, scores, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"{name}: `mask` has shape {mask.shape}; each of its four sizes must "
                f"be 1 or that of the scores, {scores}."
            )
    if p and seed is None:
        raise ShapeError(f"{name}: dropout of {p} needs `seed` and `offset`.")


def in_bfloat16(budget: Any) -> Tolerance:
    """Return the budget of a kernel that rounds the factors of its second products.

    The weights and the gradients of the scores are rounded to bfloat16.  Each has a
    relative error of 2**-8, and is 0 below 2**-126.
    """

    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        limits = budget(inputs, attributes, expected, eps, rounded=2.0**-8)
        arrays = [np.abs(np.asarray(x, np.float64)) for x in inputs if x is not None]
        sizes = sum(float(a.sum(where=np.isfinite(a))) for a in arrays)
        small = 2.0**-125 * (sizes + 6 * sum(a.size for a in arrays))
        return [limit if limit is None else limit + small for limit in limits]

    return tolerance
