# SPDX-License-Identifier: MIT
"""Attention, and the layers that other sequence models have in its place."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.arranging import joining
from autocalc._ops.creation import constants, ranges
from autocalc._ops.elementwise import exponential
from autocalc._ops.indexing import masking
from autocalc._ops.matrices import einsum, matmul
from autocalc._ops.reductions import extrema
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


def _heads(x: Tensor, count: int) -> Tensor:
    """Return ``[B, T, H * D]`` as ``[B, H, T, D]``."""
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


def _joined(x: Tensor) -> Tensor:
    """Return ``[B, H, T, D]`` as ``[B, T, H * D]``."""
    turned = x.transpose(1, 2)
    return turned.reshape(*turned.shape[:2], -1)


_UNUSED = (
    "q_num_heads", "kv_num_heads", "softmax_precision", "softcap", "scale",
    "qk_matmul_output_mode", "left_window_size", "right_window_size", "is_causal",
)  # fmt: skip


@reads("Attention", unused=_UNUSED, only={"qk_matmul_output_mode": (0, 1, 2, 3)})
def _(
    node: Node,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    past_k: Tensor | None = None,
    past_v: Tensor | None = None,
    lengths: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Return the answer, keys and values with the past, and products or weights."""
    flat = q.ndim == 3
    if flat:
        groups = node.get("kv_num_heads")
        q = _heads(q, node.get("q_num_heads"))
        k, v = _heads(k, groups), _heads(v, groups)
    before = 0 if past_k is None else past_k.shape[2]
    if past_k is not None and past_v is not None:
        k, v = joining.cat([past_k, k], 2), joining.cat([past_v, v], 2)
    present = k, v
    repeats = q.shape[1] // k.shape[1]
    if repeats > 1:
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
    scale = node.get("scale") or 1 / math.sqrt(q.shape[3])
    if _plain(node) and mask is lengths is past_k is None:
        causal = bool(node.get("is_causal", 0))
        out = functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=scale
        )
        return (_joined(out) if flat else out, *present)
    bias = _bias(node, q, k, mask, lengths, before)
    out, products = _attended(node, q, k, v, bias, scale)
    return (_joined(out) if flat else out, *present, products)


def _plain(node: Node) -> bool:
    """Return whether AutoCalc's attention is the same."""
    limits = [node.get(f"{side}_window_size", -1) for side in ("left", "right")]
    several = len([name for name in node.outputs[3:] if name])
    capped = node.get("softcap", 0.0) or node.get("softmax_precision") is not None
    return not (several or capped) and limits == [-1, -1]


def _bias(
    node: Node,
    q: Tensor,
    k: Tensor,
    mask: Tensor | None,
    lengths: Tensor | None,
    before: int,
) -> Tensor:
    """Return what is added to the products: -inf where a query must not look."""
    rows, columns = q.shape[2], k.shape[2]
    allowed = constants.ones(1, 1, rows, columns, dtype=dtypes.bool_)
    place: Any = ranges.arange(rows).reshape(rows, 1)
    other = ranges.arange(columns).reshape(1, columns)
    if lengths is not None:
        ends = lengths.to(dtypes.int64).reshape(-1, 1, 1, 1)
        place = place + (ends - rows)
        allowed = allowed & (other < ends)
    else:
        place = place + before
    if node.get("is_causal", 0):
        allowed = allowed & (other <= place)
    left, right = node.get("left_window_size", -1), node.get("right_window_size", -1)
    if left >= 0:
        allowed = allowed & (place - other <= left)
    if right >= 0:
        allowed = allowed & (other - place <= right)
    none = constants.zeros((), dtype=q.dtype)
    never = constants.full((), -math.inf, dtype=q.dtype)
    bias = masking.where(allowed, none, never)
    if mask is None:
        return bias
    missing = columns - mask.shape[-1]
    if mask.dtype is dtypes.bool_:
        mask = masking.where(mask, none, never)
    if missing > 0:
        mask = functional.pad(mask, [0, missing], value=-math.inf)
    return bias + mask


def _attended(
    node: Node, q: Tensor, k: Tensor, v: Tensor, bias: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """Return the answer and what the fourth output shows."""
    root, mode = math.sqrt(scale), node.get("qk_matmul_output_mode", 0)
    products = matmul.matmul(q * root, (k * root).transpose(2, 3))
    cap = node.get("softcap", 0.0)
    capped = functional.tanh(products / cap) * cap if cap > 0 else products
    biased = capped + bias
    precise = node.dtype("softmax_precision", biased.dtype)
    closed = extrema.amax(bias, -1, True) == -math.inf
    safe = masking.where(closed, biased.new_zeros(()), biased)
    weights = functional.softmax(safe.to(precise), -1).to(q.dtype)
    weights = masking.where(closed, weights.new_zeros(()), weights)
    shown = [products, capped, biased, weights][mode]
    return matmul.matmul(weights, v), shown


_RULES = {"update_rule": ("gated_delta", "linear", "gated", "delta")}


@reads("LinearAttention", unused=("chunk_size",), only=_RULES)
def _(
    node: Node,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    past: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Read from a matrix to which each step adds a product of its key and value."""
    kind, precise = (q if past is None else past).dtype, dtypes.float32
    count, groups = node.get("q_num_heads"), node.get("kv_num_heads")
    dtype = q.dtype
    q, k, v = (
        _heads(x, n).to(precise) for x, n in ((q, count), (k, groups), (v, groups))
    )
    rates = (
        None if decay is None else exponential.exp(_heads(decay, groups).to(precise))
    )
    gains = None if beta is None else _heads(beta, beta.shape[2]).to(precise)
    shape = (q.shape[0], groups, k.shape[3], v.shape[3])
    state = constants.zeros(*shape) if past is None else past.to(precise)
    rule, outs = node.get("update_rule", "gated_delta"), []
    for t in range(q.shape[2]):
        key, new = k[:, :, t], v[:, :, t]
        if rates is not None and "gated" in rule:
            state = state * rates[:, :, t].unsqueeze(-1)
        if gains is not None and "delta" in rule:
            new = gains[:, :, t] * (new - einsum.einsum("bhdm,bhd->bhm", state, key))
        state = state + key.unsqueeze(-1) * new.unsqueeze(-2)
        read = state if count == groups else state.repeat_interleave(count // groups, 1)
        outs.append(einsum.einsum("bhd,bhdm->bhm", q[:, :, t], read))
    scale = node.get("scale", 0.0) or 1 / math.sqrt(k.shape[3])
    out = joining.stack(outs, 2) * scale
    return _joined(out).to(dtype), state.to(kind)


@reads("CausalConvWithState", only={"activation": ("none", "silu", "swish")})
def _(
    node: Node,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Convolve each channel with its past; return the answer and the next past."""
    size = weight.shape[2] - 1
    x = functional.pad(x, [size, 0]) if past is None else joining.cat([past, x], 2)
    out = functional.conv1d(x, weight, bias, groups=x.shape[1])
    if node.get("activation", "none") != "none":
        out = functional.silu(out)
    return out, x.narrow(2, x.shape[2] - size, size)
