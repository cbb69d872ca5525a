# SPDX-License-Identifier: MIT
"""Multi-head attention."""

from __future__ import annotations

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_probability, check_sizes
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.nn import _init
from autocalc.nn._functional import multihead_steps as steps
from autocalc.nn._functional.multihead import Projections
from autocalc.nn._layers.linear import Linear
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class MultiheadAttention(Module):
    """Multi-head attention: several heads and a projection of their joint output.

    With H heads, D = E / H features per head and i = 1, ..., H::

        q_i = query W_q_i^T + b_q_i
        k_i = key W_k_i^T + b_k_i
        v_i = value W_v_i^T + b_v_i
        head_i = softmax(q_i k_i^T / sqrt(D)) v_i
        output = (head_1, ..., head_H) W_o^T + b_o

    Vaswani et al.: Attention is all you need (2017), section 3.2.2.

    Parameters
    ----------
    embed_dim
        The number of features E of the queries and of the output; a multiple of
        `num_heads`.
    num_heads
        The number of heads H.
    dropout
        The probability that an attention weight is set to 0 in training.
    bias
        True to add biases to the input projections and to the output projection.
    add_bias_kv
        True to append one learned key and one learned value to each sequence.
    add_zero_attn
        True to append a key and a value of zeros to each sequence.
    kdim, vdim
        The numbers of features of the keys and of the values.  None means E.
    batch_first
        True for sequences of shape (B, S, features), False for (S, B, features).
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    in_proj_weight
        The matrices W_q, W_k and W_v, concatenated to shape (3 E, E).  The initial
        values are those of `nn.init.xavier_uniform_`.  It is None if `kdim` or `vdim`
        is not E.  Then `q_proj_weight` (E, E), `k_proj_weight` (E, kdim) and
        `v_proj_weight` (E, vdim) hold the three matrices.
    in_proj_bias
        The biases b_q, b_k and b_v, concatenated to shape (3 E,).  They are initially
        0.
    out_proj
        The linear layer W_o, b_o.  Its bias is initially 0.
    bias_k, bias_v
        The learned key and value, each of shape (1, 1, E); None without `add_bias_kv`.

    Raises
    ------
    ArgumentError
        If `embed_dim` is not a multiple of `num_heads`.

    Examples
    --------
    >>> import autocalc as ac
    >>> attention = ac.nn.MultiheadAttention(16, 4, batch_first=True)
    >>> x = ac.randn(2, 5, 16)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (autocalc.Size([2, 5, 16]), autocalc.Size([2, 5, 5]))
    """

    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches(
            "MultiheadAttention",
            bias=bias,
            add_bias_kv=add_bias_kv,
            batch_first=batch_first,
        )
        super().__init__()
        name = "MultiheadAttention"
        embed_dim, num_heads = check_sizes(
            name, embed_dim=embed_dim, num_heads=num_heads
        )
        dropout = check_probability(name, dropout)
        flags = {"bias": bias, "add_bias_kv": add_bias_kv, "batch_first": batch_first}
        check_switches(name, **flags, add_zero_attn=add_zero_attn)
        if not num_heads or not embed_dim or embed_dim % num_heads:
            raise ArgumentError(
                f"{name}: `embed_dim` is {embed_dim} and `num_heads` {num_heads}; the "
                "number of features must be a multiple of the number of heads, and "
                "neither may be 0."
            )
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.kdim, self.vdim = check_sizes(name, kdim=self.kdim, vdim=self.vdim)
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = bool(batch_first)
        self.add_zero_attn = bool(add_zero_attn)
        self._make_parameters(bias, add_bias_kv, device, dtype)
        self.out_proj = Linear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        self._reset_parameters()

    def _make_parameters(
        self,
        bias: bool,
        add_bias_kv: bool,
        device: str | Device | None,
        dtype: DType | None,
    ) -> None:
        size = self.embed_dim
        packed = self.kdim == self.vdim == size
        shapes: dict[str, tuple[int, ...] | None] = {
            "in_proj_weight": (3 * size, size) if packed else None,
            "q_proj_weight": None if packed else (size, size),
            "k_proj_weight": None if packed else (size, self.kdim),
            "v_proj_weight": None if packed else (size, self.vdim),
            "in_proj_bias": (3 * size,) if bias else None,
            "bias_k": (1, 1, size) if add_bias_kv else None,
            "bias_v": (1, 1, size) if add_bias_kv else None,
        }
        for word, shape in shapes.items():
            parameter = None
            if shape is not None:
                parameter = Parameter(empty(*shape, dtype=dtype, device=device))
            self.register_parameter(word, parameter)

    def _reset_parameters(self) -> None:
        """Draw the parameters again; biases become zero."""
        for word in ("in", "q", "k", "v"):
            weight = getattr(self, f"{word}_proj_weight")
            if weight is not None:
                _init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                _init.zeros_(bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                _init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the output, and the attention weights if `need_weights` is True.

        Parameters
        ----------
        query
            The queries, of shape (S, B, E), or (B, S, E) with `batch_first`, or (S, E)
            for one sequence.
        key, value
            The keys, of shape (T, B, kdim), and the values, of shape (T, B, vdim). With
            `batch_first` the dimension B comes first; for one sequence it is missing.
        key_padding_mask
            A mask of the keys, of shape (B, T), or (T,) for one sequence.  A boolean
            mask is True for keys that are ignored.  A floating-point mask is added to
            the scores.
        need_weights
            True to return the attention weights.  If False, the whole matrix of weights
            is never in memory.
        attn_mask
            A mask of the scores, of shape (S, T) or (B * num_heads, S, T).  A boolean
            mask is True where a query must not attend to a key.  A floating-point mask
            is added to the scores.
        average_attn_weights
            True to return the mean of the weights over the heads.
        is_causal
            True if query i may only attend to the keys 0 to i.  Then `attn_mask` can be
            omitted.

        Returns
        -------
        output : Tensor
            The result, of the same shape as `query`.
        weights : Tensor or None
            The attention weights, of shape (B, S, T), or (B, num_heads, S, T) if they
            are not averaged.  For one sequence, the dimension B is missing.  None if
            `need_weights` is False.
        """
        check_flags(
            "forward",
            need_weights=need_weights,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        name = "MultiheadAttention"
        ends = (
            check_tensor(name, query),
            check_tensor(name, key),
            check_tensor(name, value),
        )
        sizes = (self.embed_dim, self.kdim, self.vdim)
        single = steps.check_shapes(name, ends, sizes, self.batch_first)
        ends = steps.sequences(ends, single, self.batch_first)
        asked = steps.Asked(
            key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        )
        out, found = steps.forward(self._as_steps(), ends, asked)
        return steps.as_asked(out, found, single, self.batch_first)

    def _as_steps(self) -> steps.Attention:
        return steps.Attention(
            "MultiheadAttention",
            self.num_heads,
            self._projections(),
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
        )

    def _projections(self) -> Projections:
        apart = None
        if self.in_proj_weight is None:
            assert self.q_proj_weight is not None
            assert self.k_proj_weight is not None
            assert self.v_proj_weight is not None
            apart = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        out = self.out_proj
        return Projections(
            self.in_proj_weight, apart, self.in_proj_bias, out.weight, out.bias
        )
