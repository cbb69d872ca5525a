# SPDX-License-Identifier: MIT
"""Multi-head attention: projections around `scaled_dot_product_attention`.

Sequences are ``[B, S, features]`` here.  Heads are ``[B, H, S, D]``, and are views of
the projected tensors.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autocalc._ops.arranging import joining
from autocalc._ops.attention.dot_product import scaled_dot_product_attention
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.ranges import arange
from autocalc._ops.indexing import masking
from autocalc._ops.matrices import matmul
from autocalc._ops.random.dropout import dropout as drop
from autocalc._ops.reductions import extrema, logical, softmax
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import Device, place_of_tensor
from autocalc.errors import DTypeError, ShapeError


class Projections(NamedTuple):
    """The weights of the four projections; see `nn.MultiheadAttention`."""

    packed: Tensor | None  # of q, k and v, stacked as rows
    apart: tuple[Tensor, Tensor, Tensor] | None
    bias: Tensor | None
    out: Tensor
    out_bias: Tensor | None


class Heads(NamedTuple):
    """Queries, keys and values, head by head."""

    q: Tensor
    k: Tensor
    v: Tensor


def project(
    query: Tensor, key: Tensor, value: Tensor, weights: Projections
) -> tuple[Tensor, Tensor, Tensor]:
    """Return q, k and v; one input takes only one matrix product."""
    size = weights.out.shape[1]
    blocks = [slice(i * size, (i + 1) * size) for i in range(3)]
    if weights.packed is not None and query is key and key is value:
        whole = matmul.linear(query, weights.packed, weights.bias)
        q, k, v = (whole[..., block] for block in blocks)
        return q, k, v
    if weights.packed is None:
        assert weights.apart is not None
        each = weights.apart
    else:
        packed = weights.packed
        each = (packed[blocks[0]], packed[blocks[1]], packed[blocks[2]])
    bias = weights.bias
    q, k, v = (
        matmul.linear(x, w, None if bias is None else bias[block])
        for x, w, block in zip((query, key, value), each, blocks, strict=True)
    )
    return q, k, v


def split(x: Tensor, heads: int) -> Tensor:
    """Return ``[B, S, H * D]`` as a view ``[B, H, S, D]``."""
    batch, steps, size = x.shape
    x = view.reshape(x, (batch, steps, heads, size // heads))
    return view.permute(x, (0, 2, 1, 3))


def join(x: Tensor) -> Tensor:
    """Return ``[B, H, S, D]`` as ``[B, S, H * D]``."""
    batch, heads, steps, size = x.shape
    x = view.permute(x, (0, 2, 1, 3))
    return view.reshape(x, (batch, steps, heads * size))


def attend(
    heads: Heads, mask: Tensor | None, causal: bool, p: float, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """Return the results of the heads and, if needed, the weights ``[B, H, S, T]``."""
    if not need_weights:
        out = scaled_dot_product_attention(*heads, mask, p, causal)
        return out, None
    q, k, v = heads
    scores = matmul.matmul(q * (1 / math.sqrt(q.shape[-1])), view.transpose(k, -2, -1))
    if causal:
        mask = both(mask, causal_mask(q.shape[2], k.shape[2], place_of_tensor(q)))
    if mask is not None:
        numbers = as_numbers(mask, scores.dtype)
        scores = scores + numbers
    weights = drop(_weights(scores), p)
    return matmul.matmul(weights, v), weights


def _weights(scores: Tensor) -> Tensor:
    """Return the softmax over keys; it is 0 where all scores are -inf."""
    if scores.shape[-1] == 0:
        return softmax.softmax(scores, -1)
    never = extrema.amax(scores, -1, True) == -math.inf
    scores = masking.where(never, 0.0, scores)
    return masking.where(never, 0.0, softmax.softmax(scores, -1))


def causal_mask(queries: int, keys: int, device: Device | None = None) -> Tensor:
    """Return the mask that lets a query see the keys up to its own position."""
    rows = view.unsqueeze(arange(queries, device=device), 1)
    return arange(keys, device=device) <= rows


# ---- masks ---------------------------------------------------------------------------


def allowed(where: str, name: str, mask: Tensor | None) -> Tensor | None:
    """Invert a mask of PyTorch's modules, which is True where keys are hidden."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype is not dtypes.bool_:
        raise DTypeError(
            f"{where}: `{name}` has dtype {mask.dtype.name}; it must be "
            f"bool, or numbers that are added to the scores."
        )
    return logical.logical_not(mask)


def as_numbers(mask: Tensor, dtype: Any) -> Tensor:
    """Return the mask as numbers that are added to the scores."""
    if mask.dtype is not dtypes.bool_:
        return mask
    return masking.where(mask, 0.0, -math.inf).to(dtype)


def both(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    """Return a mask that allows what both masks allow."""
    if a is None or b is None:
        return b if a is None else a
    if a.dtype is dtypes.bool_ and b.dtype is dtypes.bool_:
        return logical.logical_and(a, b)
    dtype = b.dtype if a.dtype is dtypes.bool_ else a.dtype
    return as_numbers(a, dtype) + as_numbers(b, dtype)


def padding(where: str, mask: Tensor | None, batch: int, keys: int) -> Tensor | None:
    """Return a mask of keys ``[B, T]`` as ``[B, 1, 1, T]``."""
    if mask is None:
        return None
    if mask.shape not in ((batch, keys), (keys,)):
        raise ShapeError(
            f"{where}: `key_padding_mask` has shape {mask.shape}; it must be ({batch}, "
            f"{keys}): the batch size and the number of keys."
        )
    return view.reshape(mask, (batch if mask.ndim == 2 else 1, 1, 1, keys))


def scores_mask(
    where: str, mask: Tensor | None, batch: int, heads: int, queries: int, keys: int
) -> Tensor | None:
    """Return a mask of scores with four dimensions."""
    if mask is None:
        return None
    if mask.shape == (queries, keys):
        return view.reshape(mask, (1, 1, queries, keys))
    if mask.shape == (batch * heads, queries, keys):
        return view.reshape(mask, (batch, heads, queries, keys))
    raise ShapeError(
        f"{where}: `attn_mask` has shape {mask.shape}; it must be "
        f"{(queries, keys)} or {(batch * heads, queries, keys)}: queries and keys, or "
        f"batch * heads before them."
    )


def with_one_more_key(mask: Tensor | None) -> Tensor | None:
    """Return a mask that also allows one key after the last one."""
    if mask is None:
        return None
    free = zeros(*mask.shape[:-1], 1, dtype=mask.dtype, device=place_of_tensor(mask))
    if mask.dtype is dtypes.bool_:
        free = logical.logical_not(free)
    return joining.cat([mask, free], -1)
