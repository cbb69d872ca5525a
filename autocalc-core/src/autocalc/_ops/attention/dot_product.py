# SPDX-License-Identifier: MIT
"""Scaled dot-product attention: softmax(Q K^T / sqrt(d)) V."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._dispatch.device.device import is_batched
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._kernels.rules import broadcast_shapes
from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.traced import traced
from autocalc._ops._tensors import tensors
from autocalc._ops.views import broadcasting, view
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import number
from autocalc._tensor.generator import default_generator
from autocalc.errors import ArgumentError, DTypeError, ShapeError

# The inputs are q, k, v, mask, seed and offset.  A mask of numbers has no gradient
# here.
SAVES = "out:q,k,v lse:q,k,v q k v mask seed offset"


attention_op = nary("attention", saves=SAVES)


@attention_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The kernel kept lse, which has no history, so a recorded pass uses primitives."""
    into = None
    if not (k.records or is_batched(g.dtype)):
        into = _gradients_together(k, n, *n.saved[2:5])
    return *_gradients(k, n, g, n.saved, into), None, None, None


def _gradients(k: Any, n: Any, g: Any, saved: Any, into: Any) -> Any:
    out, lse, q, keys, v, *rest = saved
    if k.records:
        inputs = (q, keys, v, *rest)
        return k.through_decomposition("attention", inputs, n.attributes, g)[:3]
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    operands = (g, q, keys, v, out, lse, *rest)
    return k.attention_backward(*operands, *n.attributes, want=want, into=into)


def _gradients_together(
    k: Any, n: Any, q: Array, keys: Array, v: Array
) -> tuple[Array, ...] | None:
    """Return arrays for the gradients, or None unless the operands fill one array.

    If q, k and v are slices of one projection, their gradients become slices of the
    gradient of that projection.  So nothing remains to be added or copied.
    """
    base = q.base
    if base.__class__ is not np.ndarray or not keys.base is v.base is base:
        return None
    if q.size + keys.size + v.size != base.size or q.shape[3] != v.shape[3]:
        return None
    if q.shape[1] != keys.shape[1] or not (n.needs(0) and n.needs(1) and n.needs(2)):
        return None
    batch, length, heads, features = q.shape
    end = heads + keys.shape[2]
    every = end + v.shape[2]
    whole = k.empty((batch, length, every, features), q.dtype)
    return whole[:, :, :heads], whole[:, :, heads:end], whole[:, :, end:]


_TURN = (0, 2, 1, 3)  # its own inverse


_by_heads = Op("attention", SAVES)


def attention_by_heads(*args: Any) -> Tensor:
    """Return attention of ``q, k, v [B, H, S, D]``, otherwise like `attention`.

    This records one node in place of five: transposing the operands and the result is
    not a separate operation.
    """
    tensors, attributes = args[:6], args[6:]
    turned = [x._array.transpose(_TURN) for x in tensors[:3]]
    operands = (*turned, *[None if x is None else x._array for x in tensors[3:]])
    edges = tuple([None if x is None else x._edge for x in tensors])
    state = current()
    record = state.grad and any(edges)
    saves = _by_heads.saves
    want = saves.outputs if record and saves is not None else 0
    out, lse = arrays.attention(*operands, *attributes, want=want)
    result = make(out.transpose(_TURN), None)
    if record and saves is not None:
        kept = make(lse, None)
        saved, versions = saves(edges, (result, kept, *tensors))
        shapes = tuple([() if x is None else x._array.shape for x in tensors])
        result._edge = Node(
            _by_heads, edges, saved, versions, shapes, out.dtype, attributes
        )
    return result


def _by_heads_rule(k: Any, n: Any, g: Any) -> Any:
    out, lse, q, keys, v, *rest = n.saved
    given = (q, keys, v)
    g, out, q, keys, v = (k.permute(x, _TURN) for x in (g, out, q, keys, v))
    into: Any = None
    whole: Any = (None, None, None)
    # Under `vmap`, their memory may have no room for each example.
    if not (k.records or is_batched(g.dtype)):
        into, whole = _results(k, n, given, (q, keys, v))
    found = _gradients(k, n, g, (out, lse, q, keys, v, *rest), into)
    turned = [None if x is None else k.permute(x, _TURN) for x in found]
    grads = [b if a is None else a for a, b in zip(whole, turned, strict=True)]
    return *grads, None, None, None


def _results(k: Any, n: Any, operands: Any, turned: Any) -> tuple[Any, Any]:
    """Return the arrays that the kernel fills, and the gradients that they make up.

    A leaf keeps an array that was made for it; it would copy a view.
    """
    into = _gradients_together(k, n, *turned)
    if into is not None:
        return into, (None, None, None)
    whole = [
        k.empty(x.shape, x.dtype) if n.needs(i) and x.flags.c_contiguous else None
        for i, x in enumerate(operands)
    ]
    return tuple([None if x is None else x.transpose(_TURN) for x in whole]), whole


_by_heads.rule = _by_heads_rule
# One kernel rounds its own gradients; a recorded pass has many kernels.
_by_heads.rounds_once = lambda n: not isinstance(n.saved[0], Tensor)


_NAME = "scaled_dot_product_attention"


@autocasts("lower")
@traced
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
    the result, and one kernel computes the gradients.  The operands may be views with
    any strides.

    Parameters
    ----------
    query
        A tensor of float32 or float64 with the shape ``[..., H, S, D]``; the dimension
        H of heads may be missing.
    key, value
        Tensors of shape ``[..., H, T, D]`` and ``[..., H, T, E]``, of the dtype of
        `query`; leading dimensions are broadcast.
    attn_mask
        A tensor that broadcasts to ``[..., H, S, T]``.  Boolean elements are True where
        a query may attend to a key; numbers are added to the scores.  The result is 0
        for a query that may attend to no key.
    dropout_p
        The probability with which a weight is set to 0; the other weights are
        multiplied by ``1 / (1 - dropout_p)``.  Dropout is applied in every call: pass 0
        in evaluation.
    is_causal
        True to let query i attend only to keys 0 to i; `attn_mask` applies in addition.
    scale
        The factor of the scores; by default ``1 / sqrt(D)``.
    enable_gqa
        True to let `key` and `value` have fewer heads than `query`, so that several
        heads of `query` share one head (grouped-query attention).

    Returns
    -------
    Tensor
        A tensor of shape ``[..., H, S, E]``.

    Raises
    ------
    ShapeError
        If the shapes of the operands do not fit together.
    ArgumentError
        If `dropout_p` is not between 0 and 1.

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
    if dropout_p or not _fit(q, k, v):
        if KINDS and (own := elsewhere(_NAME, q, k, v)) is not None:
            words = {"attn_mask": attn_mask, "dropout_p": dropout_p, "scale": scale}
            return own(q, k, v, is_causal=is_causal, enable_gqa=enable_gqa, **words)  # type: ignore[no-any-return]
        q, k, v = (check_tensor(_NAME, x) for x in (q, k, v))
        q, k, v = _broadcast(q, k, v, enable_gqa)
        _check(q, k, v, dropout_p, enable_gqa)
    whole = q._array.ndim == 4
    heads = [q, k, v] if whole else [_of_one_batch(x) for x in (q, k, v)]
    batch, count, queries, features = heads[0]._array.shape
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
        turned: list[Any] = [view.permute_op(x, (0, 2, 1, 3)) for x in heads]
        out: Any = _decomposed(*turned, *operands[3:])
        out = view.permute_op(out, (0, 2, 1, 3))
    else:
        out = attention_by_heads(*operands)
    if whole:
        return out  # type: ignore[no-any-return]  # a tensor
    out = view.reshape_op(out, (*q.shape[:-1], v.shape[-1]))
    return view.detach_from_base(out)


@rounded_once
def _decomposed(*operands: Any) -> Tensor:
    """Return attention by primitives, which also give gradients to a float mask."""
    decomposition = TABLE["attention"].decomposition
    assert decomposition is not None, "attention is a composite"
    out: Tensor = decomposition(tensors, *operands)[0]
    return out


def _fit(query: Any, key: Any, value: Any) -> bool:
    """Return whether these are tensors of 2 to 4 dimensions that need no broadcast.

    This is the case in training and in decoding; all the other checks take 20 us.
    """
    try:
        q, k, v = query._array.shape, key._array.shape, value._array.shape
    except AttributeError:
        return False
    same = k == v and len(q) == len(k) and q[:-2] == k[:-2] and q[-1] == k[-1]
    return same and 2 <= len(q) <= 4 and _of_one_dtype(query, key, value)


def _of_one_dtype(q: Tensor, k: Tensor, v: Tensor) -> bool:
    return q._array.dtype == k._array.dtype == v._array.dtype  # type: ignore[no-any-return]  # of two dtypes


def _broadcast(
    q: Tensor, k: Tensor, v: Tensor, grouped: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Expand leading dimensions that broadcast; leave all others to the check."""
    kept = 3 if grouped else 2
    leads = {x.shape[:-kept] for x in (q, k, v)}
    if len(leads) == 1 or min(q.ndim, k.ndim, v.ndim) < kept:
        return q, k, v
    try:
        lead = broadcast_shapes(_NAME, *leads)
    except ShapeError:
        return q, k, v
    q, k, v = (broadcasting.expand_op(x, lead + x.shape[-kept:]) for x in (q, k, v))
    return q, k, v


def _check(q: Tensor, k: Tensor, v: Tensor, p: float, grouped: bool) -> None:
    if not q.dtype is k.dtype is v.dtype:
        raise DTypeError(
            f"{_NAME}: `query` has dtype {q.dtype.name}, `key` has dtype "
            f"{k.dtype.name} and `value` has dtype {v.dtype.name}; all three must be "
            "the same. Convert them with .to(dtype)."
        )
    given = f"query {q.shape}, key {k.shape}, value {v.shape}"
    if not 0 <= number(_NAME, "dropout_p", p) <= 1:
        raise ArgumentError(f"{_NAME}: `dropout_p` is {p}; it must be between 0 and 1.")
    if not 2 <= q.ndim == k.ndim == v.ndim:
        raise ShapeError(f"{_NAME}: got {given}; all must be [..., length, features].")
    if q.ndim > 2 and q.shape[-3] != k.shape[-3] and not grouped:
        raise ShapeError(
            f"{_NAME}: got {given}: {q.shape[-3]} heads of queries and {k.shape[-3]} "
            "heads of keys. Pass enable_gqa=True if several heads of queries share "
            "one head of keys."
        )
    fits = q.shape[:-3] == k.shape[:-3] == v.shape[:-3] and k.shape[:-1] == v.shape[:-1]
    if not fits or q.shape[-1] != k.shape[-1]:
        raise ShapeError(
            f"{_NAME}: got {given}; the shapes must be [..., S, D], [..., T, D] and "
            "[..., T, E], with leading dimensions that are equal or broadcast."
        )


def _of_one_batch(x: Tensor) -> Tensor:
    """Return ``[..., H, S, D]`` as ``[B, H, S, D]``."""
    shape = x._array.shape
    heads = shape[-3] if len(shape) > 2 else 1
    return view.reshape_op(x, (math.prod(shape[:-3]), heads, *shape[-2:]))


def _as_scores(mask: Tensor, shape: tuple[int, ...], keys: int) -> Tensor:
    """Return a mask with the four dimensions of the scores ``[B, H, S, T]``."""
    scores = (*shape[:-1], keys)
    mask = check_tensor(_NAME, mask)
    lead = len(scores) - mask.ndim
    full = (1,) * lead + mask.shape
    if lead < 0 or any(m not in (1, n) for m, n in zip(full, scores, strict=True)):
        raise ShapeError(
            f"{_NAME}: `attn_mask` has shape {mask.shape}; it must broadcast to that "
            f"of the scores, {scores}."
        )
    if len(scores) > 4:  # merge the leading dimensions
        full = (*scores[:-3], *full[-3:])
        mask = broadcasting.expand_op(mask, full)
        return view.reshape_op(mask, (math.prod(full[:-3]), *full[-3:]))
    return view.reshape_op(mask, (1,) * (4 - len(full)) + full)
