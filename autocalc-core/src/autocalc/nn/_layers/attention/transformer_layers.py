# SPDX-License-Identifier: MIT
"""The encoder layer and the decoder layer of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.nn import functional
from autocalc.nn._layers.attention.multihead import MultiheadAttention
from autocalc.nn._layers.dropout import Dropout
from autocalc.nn._layers.linear import Linear
from autocalc.nn._layers.norms.layer_norm import LayerNorm
from autocalc.nn._module.module import Module

Activation = Callable[[Tensor], Tensor]


def activation_of(where: str, activation: str | Activation) -> Activation:
    """Return the function with a given name, or the function itself."""
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise ArgumentError(
            f"{where}: `activation`={activation!r}; use 'relu', 'gelu' or a function."
        )
    return functional.relu if activation == "relu" else functional.gelu


def activation_by_name(activation: str) -> Activation:
    """Return "relu" or "gelu", as PyTorch's `_get_activation_fn` does."""
    return activation_of("activation", activation)


class _Layer(Module):
    """The common part: two linear layers, and the order of norm and sum."""

    linear1: Linear
    linear2: Linear
    dropout: Dropout

    def _around(
        self, x: Tensor, norm: Module, part: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Return x + part(norm(x)), or norm(x + part(x))."""
        if self.norm_first:
            return x + part(norm(x))
        result: Tensor = norm(x + part(x))
        return result

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(self.activation(self.linear1(x)))
        result: Tensor = self.linear2(hidden)
        return result

    norm_first: bool
    activation: Activation


class TransformerEncoderLayer(_Layer):
    """A transformer encoder layer: self-attention and linear layers, with residuals.

    By default the norms come after the sums::

        x = norm1(x + dropout1(attention(x, x, x)))
        x = norm2(x + dropout2(linear2(dropout(activation(linear1(x))))))

    With `norm_first` they come before the attention and the linear layers::

        x = x + dropout1(attention(norm1(x), norm1(x), norm1(x)))
        x = x + dropout2(linear2(dropout(activation(linear1(norm2(x))))))

    Vaswani et al.: Attention is all you need (2017), section 3.1.  For `norm_first`:
    Xiong et al.: On layer normalization in the transformer architecture (2020).

    Parameters
    ----------
    d_model
        The number of features of the input and of the output.
    nhead
        The number of heads of the attention; a divisor of `d_model`.
    dim_feedforward
        The number of features between the two linear layers.
    dropout
        The probability of all dropouts, including the dropout of the attention weights.
    activation
        ``"relu"``, ``"gelu"``, or a function of one tensor.
    layer_norm_eps
        The constant eps of the layer norms.
    batch_first
        True for sequences of shape (B, S, d_model), False for (S, B, d_model).
    norm_first
        True to normalise before the attention and the linear layers, False to normalise
        after the sums.
    bias
        True to add biases to the linear layers and to the norms.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    >>> layer(ac.randn(2, 5, 16)).shape
    autocalc.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches(
            "TransformerEncoderLayer",
            batch_first=batch_first,
            norm_first=norm_first,
            bias=bias,
        )
        super().__init__()
        place: Any = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **place
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_of("TransformerEncoderLayer", activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the output of the layer, of the same shape as `src`.

        The masks are those of `MultiheadAttention.forward`.
        """
        check_flags("forward", is_causal=is_causal)

        def attend(x: Tensor) -> Tensor:
            out = self.self_attn(
                x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal
            )
            result: Tensor = self.dropout1(out[0])
            return result

        x = self._around(src, self.norm1, attend)
        return self._around(
            x, self.norm2, lambda y: self.dropout2(self._feed_forward(y))
        )


class TransformerDecoderLayer(_Layer):
    """A transformer decoder layer: self-attention, cross-attention and linear layers.

    `memory` is the output of the encoder::

        x = norm1(x + dropout1(attention(x, x, x)))
        x = norm2(x + dropout2(attention(x, memory, memory)))
        x = norm3(x + dropout3(linear2(dropout(activation(linear1(x))))))

    With `norm_first` the norms come first, as in `TransformerEncoderLayer`.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps
        The same as for `TransformerEncoderLayer`.
    batch_first, norm_first, bias, device, dtype
        The same as for `TransformerEncoderLayer`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.TransformerDecoderLayer(16, 4, 32, batch_first=True)
    >>> layer(ac.randn(2, 5, 16), ac.randn(2, 7, 16)).shape
    autocalc.Size([2, 5, 16])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches(
            "TransformerDecoderLayer",
            batch_first=batch_first,
            norm_first=norm_first,
            bias=bias,
        )
        super().__init__()
        place: Any = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **place
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout, bias, batch_first=batch_first, **place
        )
        self.linear1 = Linear(d_model, dim_feedforward, bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_of("TransformerDecoderLayer", activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the output of the layer, of the same shape as `tgt`.

        The masks are those of `MultiheadAttention.forward`.
        """
        check_flags(
            "forward", tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal
        )

        def attend(x: Tensor) -> Tensor:
            out = self.self_attn(
                x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal
            )
            result: Tensor = self.dropout1(out[0])
            return result

        def look_up(x: Tensor) -> Tensor:
            out = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask,
                is_causal=memory_is_causal,
            )  # fmt: skip
            result: Tensor = self.dropout2(out[0])
            return result

        x = self._around(tgt, self.norm1, attend)
        x = self._around(x, self.norm2, look_up)
        return self._around(
            x, self.norm3, lambda y: self.dropout3(self._feed_forward(y))
        )
