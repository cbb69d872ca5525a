# SPDX-License-Identifier: MIT
"""Scaled dot-product attention."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels.rules import broadcast_shapes
from autocalc._kernels.table import TABLE
from autocalc._ops import attention as ops
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import check_tensor
from autocalc._ops._tensors import tensors
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import number
from autocalc._tensor.generator import default_generator
from autocalc.errors import ArgumentError, ShapeError

_NAME = "scaled_dot_product_attention"


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Return softmax(scale * query key^T + mask) value, for each head.

    Vaswani et al.: Attention is all you need (2017), equation 1.  One kernel computes
    it, and one its gradients; operands may be views with any strides.

    Parameters
    ----------
    query
        ``[..., H, S, D]``, float32 or float64; the heads H may be missing.
    key, value
        ``[..., H, T, D]`` and ``[..., H, T, E]``; leading dimensions broadcast.
    attn_mask
        Broadcast to ``[..., H, S, T]``: booleans, True where a query may attend to a
        key, or numbers that are added to the scores.  Where a query may attend to
        nothing, the result is 0.
    dropout_p
        The probability with which a weight is set to 0; the rest are multiplied by
        ``1 / (1 - dropout_p)``.  It always applies: pass 0 in evaluation.
    is_causal
        Query i attends to keys 0 to i, of those that `attn_mask` allows.
    scale
        By default ``1 / sqrt(D)``.
    enable_gqa
        Let `key` and `value` have fewer heads, each for as many neighbours of `query`.

    Returns
    -------
    Tensor
        ``[..., H, S, E]``.

    Raises
    ------
    ShapeError
        If the operands do not fit together.
    ArgumentError
        If `dropout_p` is not from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> q = ac.zeros(1, 2, 3, 4)  # all scores are equal
    >>> v = ac.arange(24.0).reshape(1, 2, 3, 4)
    >>> out = ac.nn.functional.scaled_dot_product_attention(q, q, v, is_causal=True)
    >>> out[0, 0]
    tensor([[0., 1., 2., 3.],
            [2., 3., 4., 5.],
            [4., 5., 6., 7.]])
    """
    q, k, v = query, key, value
    if dropout_p or not _alike(q, k, v):
        q, k, v = (check_tensor(_NAME, x) for x in (q, k, v))
        q, k, v = _broadcast(q, k, v, enable_gqa)
        _check(q, k, v, dropout_p, enable_gqa)
    heads = [q, k, v] if q.ndim == 4 else [_of_one_batch(x) for x in (q, k, v)]
    batch, count, queries, features = heads[0].shape
    mask = None
    if attn_mask is not None:
        mask = _as_scores(attn_mask, q.shape, k.shape[-2])
    seed = offset = None
    if dropout_p:
        words = batch * count * queries * k.shape[-2]  # one for each weight
        seed, offset = (make(x, None) for x in default_generator.draw(words))
    causal = "upper_left" if is_causal else "none"
    factor = (
        1 / math.sqrt(max(features, 1))
        if scale is None
        else number(_NAME, "scale", scale)
    )
    operands: Any = (*heads, mask, seed, offset, factor, causal, float(dropout_p))
    if mask is not None and mask.requires_grad:
        turned: list[Any] = [shapes.permute(x, (0, 2, 1, 3)) for x in heads]
        decomposition = TABLE["attention"].decomposition
        assert decomposition is not None, "attention is a composite"
        out: Any = decomposition(tensors, *turned, *operands[3:])[0]
        out = shapes.permute(out, (0, 2, 1, 3))
    else:
        out = ops.attention_by_heads(*operands)
    return out if q.ndim == 4 else shapes.reshape(out, (*q.shape[:-1], v.shape[-1]))


def _alike(*operands: Any) -> bool:
    """Return whether all are tensors of one shape of four dimensions: nothing to check.

    So they are in training; all the questions together take 10 us.
    """
    for x in operands:
        if not isinstance(x, Tensor):
            return False
    q, k, v = (x._array.shape for x in operands)
    return len(q) == 4 and q == k == v


def _broadcast(
    q: Tensor, k: Tensor, v: Tensor, grouped: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Expand leading dimensions that broadcast; leave others for the check."""
    kept = 3 if grouped else 2
    leads = {x.shape[:-kept] for x in (q, k, v)}
    if len(leads) == 1 or min(q.ndim, k.ndim, v.ndim) < kept:
        return q, k, v
    try:
        lead = broadcast_shapes(_NAME, *leads)
    except ShapeError:
        return q, k, v
    q, k, v = (shapes.expand(x, lead + x.shape[-kept:]) for x in (q, k, v))
    return q, k, v


def _check(q: Tensor, k: Tensor, v: Tensor, p: float, grouped: bool) -> None:
    given = f"query {q.shape}, key {k.shape}, value {v.shape}"
    if not 0 <= number(_NAME, "dropout_p", p) <= 1:
        message = f"{_NAME}: `dropout_p` is {p}; it must be from 0 to 1."
        raise ArgumentError(message)
    if not 2 <= q.ndim == k.ndim == v.ndim:
        message = f"{_NAME}: got {given}; all need [..., length, features]."
        raise ShapeError(message)
    if q.ndim > 2 and q.shape[-3] != k.shape[-3] and not grouped:
        message = (
            f"{_NAME}: got {given}: {q.shape[-3]} heads of queries, {k.shape[-3]} of "
            f"keys. Pass enable_gqa=True if one of keys serves several of queries."
        )
        raise ShapeError(message)
    fits = q.shape[:-3] == k.shape[:-3] == v.shape[:-3] and k.shape[:-1] == v.shape[:-1]
    if not fits or q.shape[-1] != k.shape[-1]:
        message = (
            f"{_NAME}: got {given}; needed are [..., S, D], [..., T, D], [..., T, E] "
            f"of equal leading dimensions, or such that broadcast."
        )
        raise ShapeError(message)


def _of_one_batch(x: Tensor) -> Tensor:
    """Return ``[..., H, S, D]`` as ``[B, H, S, D]``."""
    heads = x.shape[-3] if x.ndim > 2 else 1
    return shapes.reshape(x, (math.prod(x.shape[:-3]), heads, *x.shape[-2:]))


def _as_scores(mask: Tensor, shape: tuple[int, ...], keys: int) -> Tensor:
    """Return a mask with the four dimensions of the scores ``[B, H, S, T]``."""
    scores = (*shape[:-1], keys)
    mask = check_tensor(_NAME, mask)
    lead = len(scores) - mask.ndim
    full = (1,) * lead + mask.shape
    if lead < 0 or any(m not in (1, n) for m, n in zip(full, scores, strict=True)):
        message = (
            f"{_NAME}: `attn_mask` has shape {mask.shape}; it must broadcast to that "
            f"of the scores, {scores}."
        )
        raise ShapeError(message)
    if len(scores) > 4:  # leading dimensions become one
        full = (*scores[:-3], *full[-3:])
        mask = shapes.expand(mask, full)
        return shapes.reshape(mask, (math.prod(full[:-3]), *full[-3:]))
    return shapes.reshape(mask, (1,) * (4 - len(full)) + full)
