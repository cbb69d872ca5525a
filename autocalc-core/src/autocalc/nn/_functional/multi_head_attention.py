# SPDX-License-Identifier: MIT
"""Multi-head attention as a function of its parameters."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_probability, check_sizes
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._functional import multihead_steps as steps
from autocalc.nn._functional.multihead import Projections

_WHERE = "multi_head_attention_forward"


@rounded_once
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Compute multi-head attention with the parameters given as arguments.

    The formula is the one of `nn.MultiheadAttention`.  S and T are the lengths of the
    sequences of queries and of keys, B is the batch size.  The sequence dimension comes
    first.

    Parameters
    ----------
    query
        The queries, of shape (S, B, E), or (S, E) for one sequence.
    key, value
        The keys, of shape (T, B, K), and the values, of shape (T, B, V).  For one
        sequence, the dimension B is missing.
    embed_dim_to_check
        The number of features E.  It is an error if the last dimension of `query` has
        another size.
    num_heads
        The number of heads H.  E must be a multiple of H.
    in_proj_weight, in_proj_bias
        The weight of the input projections, of shape (3 E, E), and their bias, of shape
        (3 E,).
    bias_k, bias_v
        One more key and one more value, each of shape (1, 1, E), appended to each
        sequence. None appends nothing.
    add_zero_attn
        True to append a key and a value of zeros to each sequence.
    dropout_p
        The probability that an attention weight is set to 0 if `training` is True.
    out_proj_weight, out_proj_bias
        The weight of the output projection, of shape (E, E), and its bias, of shape
        (E,).
    training
        True to apply dropout.
    key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        The same as for `nn.MultiheadAttention.forward`.
    use_separate_proj_weight
        True to use `q_proj_weight`, `k_proj_weight` and `v_proj_weight` instead of
        `in_proj_weight`.
    q_proj_weight, k_proj_weight, v_proj_weight
        The weights of the three input projections, of shapes (E, E), (E, K) and (E, V).
    static_k, static_v
        Tensors of shape (B * H, T, E / H), used instead of the projected keys and
        values.

    Returns
    -------
    output : Tensor
        The result, of the same shape as `query`.
    weights : Tensor or None
        The attention weights, of shape (B, S, T) if averaged over the heads, otherwise
        (B, H, S, T). For one sequence, the dimension B is missing.  None if
        `need_weights` is False.

    Raises
    ------
    ArgumentError
        If E is not a multiple of H, or if a weight is missing.
    ShapeError
        If the shapes do not match.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, w, out = ac.randn(5, 2, 4), ac.randn(12, 4), ac.randn(4, 4)
    >>> y, weights = ac.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, w, None, None, None, False, 0.0, out, None
    ... )
    >>> y.shape, weights.shape
    (autocalc.Size([5, 2, 4]), autocalc.Size([2, 5, 5]))
    """
    ends = (
        check_tensor(_WHERE, query),
        check_tensor(_WHERE, key),
        check_tensor(_WHERE, value),
    )
    flags = {
        "add_zero_attn": add_zero_attn,
        "training": training,
        "need_weights": need_weights,
        "use_separate_proj_weight": use_separate_proj_weight,
        "average_attn_weights": average_attn_weights,
        "is_causal": is_causal,
    }
    for name, flag in flags.items():
        check_flag(_WHERE, name, flag)
    dropout_p = check_probability(_WHERE, dropout_p)
    _check_heads(embed_dim_to_check, num_heads)
    apart = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = _projections(
        embed_dim_to_check,
        None if use_separate_proj_weight else _given("in_proj_weight", in_proj_weight),
        apart if use_separate_proj_weight else None,
        in_proj_bias,
        out_proj_weight,
        out_proj_bias,
    )
    sizes = _features(embed_dim_to_check, weights)
    single = steps.check_shapes(_WHERE, ends, sizes, batch_first=False)
    ends = steps.sequences(ends, single, batch_first=False)
    batch = ends[0].shape[0]
    for name, bias in (("bias_k", bias_k), ("bias_v", bias_v)):
        _check_shape(name, bias, (1, 1, embed_dim_to_check))
    if (bias_k is None) != (bias_v is None):
        message = (
            f"{_WHERE}: `bias_k` and `bias_v` belong together; give both or neither."
        )
        raise ArgumentError(message)
    layer = steps.Attention(
        _WHERE,
        num_heads,
        weights,
        bias_k,
        bias_v,
        add_zero_attn,
        dropout_p if training else 0.0,
        *_static(batch, num_heads, embed_dim_to_check, static_k, static_v),
    )
    for mask in (key_padding_mask, attn_mask):
        if mask is not None:
            check_tensor(_WHERE, mask)
    asked = steps.Asked(
        key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
    )
    out, found = steps.forward(layer, ends, asked)
    return steps.as_asked(out, found, single, batch_first=False)


def _check_heads(size: int, heads: int) -> None:
    size, heads = check_sizes(_WHERE, embed_dim_to_check=size, num_heads=heads)
    if not size or not heads or size % heads:
        raise ArgumentError(
            f"{_WHERE}: `embed_dim_to_check` is {size} and `num_heads` {heads}; the "
            "number of features must be a multiple of the number of heads, and "
            "neither may be 0."
        )


def _given(name: str, weight: Tensor | None) -> Tensor:
    if weight is None:
        raise ArgumentError(
            f"{_WHERE}: `{name}` is None; give `in_proj_weight`, or "
            "`use_separate_proj_weight=True` and three separate weights."
        )
    return check_tensor(_WHERE, weight)


def _check_shape(name: str, given: Any, needed: tuple[int, ...]) -> None:
    if given is not None and check_tensor(_WHERE, given).shape != needed:
        raise ShapeError(
            f"{_WHERE}: `{name}` has shape {tuple(given.shape)}; it must be {needed}."
        )


def _projections(
    size: int,
    packed: Tensor | None,
    apart: tuple[Tensor | None, Tensor | None, Tensor | None] | None,
    bias: Tensor | None,
    out: Tensor,
    out_bias: Tensor | None,
) -> Projections:
    _check_shape("in_proj_weight", packed, (3 * size, size))
    _check_shape("in_proj_bias", bias, (3 * size,))
    _check_shape("out_proj_weight", check_tensor(_WHERE, out), (size, size))
    _check_shape("out_proj_bias", out_bias, (size,))
    if apart is None:
        return Projections(packed, None, bias, out, out_bias)
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    q, k, v = (_given(name, w) for name, w in zip(names, apart, strict=True))
    for name, w in zip(names, (q, k, v), strict=True):
        features = w.shape[1] if w.ndim == 2 and name[0] != "q" else size
        _check_shape(name, w, (size, features))
    return Projections(None, (q, k, v), bias, out, out_bias)


def _features(size: int, weights: Projections) -> tuple[int, int, int]:
    """Return the numbers of features of query, key and value."""
    if weights.apart is None:
        return size, size, size
    _, k, v = weights.apart
    return size, k.shape[1], v.shape[1]


def _static(
    batch: int, heads: int, size: int, *given: Tensor | None
) -> tuple[Tensor | None, ...]:
    """Return keys and values given by a caller, head by head, ``[B, H, T, D]``."""
    result: list[Tensor | None] = []
    for name, x in zip(("static_k", "static_v"), given, strict=True):
        if x is None:
            result.append(None)
            continue
        length = x.shape[1] if check_tensor(_WHERE, x).ndim == 3 else 1
        _check_shape(name, x, (batch * heads, length, size // heads))
        result.append(view.reshape(x, (batch, heads, length, size // heads)))
    return tuple(result)
