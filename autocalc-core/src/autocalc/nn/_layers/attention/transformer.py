# SPDX-License-Identifier: MIT
"""Stacks of transformer layers, and the transformer made of both stacks."""

from __future__ import annotations

import copy
import math
from typing import Any

from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.indexing import masking
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn import _init, functional
from autocalc.nn._functional.multihead import causal_mask
from autocalc.nn._layers.attention.transformer_layers import (
    Activation,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from autocalc.nn._layers.containers.container import ModuleList
from autocalc.nn._layers.norms.layer_norm import LayerNorm
from autocalc.nn._module.module import Module


def _copies(where: str, layer: Module, count: int) -> ModuleList:
    (count,) = check_sizes(where, num_layers=count)
    _module(where, layer)
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _module(where: str, module: Any) -> Module:
    """Return a layer or norm; raise if it is not a module."""
    if not isinstance(module, Module):
        raise DTypeError(
            f"{where}: a layer or norm is a {type(module).__name__}; it must be a "
            f"Module."
        )
    return module


class TransformerEncoder(Module):
    """A stack of `TransformerEncoderLayer` copies, followed by an optional norm.

    Parameters
    ----------
    encoder_layer
        The layer to copy: a `TransformerEncoderLayer`.  All copies have the same
        initial values as this layer.
    num_layers
        The number of layers.
    norm
        A module that is applied to the output of the last layer.  None applies nothing.
    enable_nested_tensor, mask_check
        Accepted for compatibility with PyTorch.  They have no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    >>> encoder = ac.nn.TransformerEncoder(layer, 2)
    >>> encoder(ac.randn(2, 5, 16)).shape
    autocalc.Size([2, 5, 16])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        check_flags(
            "TransformerEncoder",
            enable_nested_tensor=enable_nested_tensor,
            mask_check=mask_check,
        )
        super().__init__()
        self.layers = _copies("TransformerEncoder", encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = None if norm is None else _module("TransformerEncoder", norm)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Return the output of the last layer, of the same shape as `src`.

        Parameters
        ----------
        src
            The input, of shape (S, B, d_model), or (B, S, d_model) if the layers have
            `batch_first`.
        mask, src_key_padding_mask
            The arguments `attn_mask` and `key_padding_mask` of
            `MultiheadAttention.forward`.
        is_causal
            True for causal attention.  Then `mask` can be omitted.
        """
        check_flags("forward", is_causal=is_causal)
        x = src
        for layer in self.layers:
            x = layer(x, mask, src_key_padding_mask, bool(is_causal))
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(Module):
    """A stack of `TransformerDecoderLayer` copies, followed by an optional norm.

    Parameters
    ----------
    decoder_layer
        The layer to copy: a `TransformerDecoderLayer`.  All copies have the same
        initial values as this layer.
    num_layers
        The number of layers.
    norm
        A module that is applied to the output of the last layer.  None applies nothing.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.TransformerDecoderLayer(16, 4, 32, batch_first=True)
    >>> decoder = ac.nn.TransformerDecoder(layer, 2)
    >>> decoder(ac.randn(2, 5, 16), ac.randn(2, 7, 16)).shape
    autocalc.Size([2, 5, 16])
    """

    def __init__(
        self, decoder_layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = _copies("TransformerDecoder", decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = None if norm is None else _module("TransformerDecoder", norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the output of the last layer, of the same shape as `tgt`.

        Parameters
        ----------
        tgt
            The input, of shape (T, B, d_model), or (B, T, d_model) if the layers have
            `batch_first`.
        memory
            The output of the encoder, of shape (S, B, d_model), or (B, S, d_model).
        tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask
            The masks of the self-attention over `tgt` and of the attention to `memory`.
            A mask is the argument `attn_mask` or `key_padding_mask` of
            `MultiheadAttention.forward`.
        tgt_is_causal, memory_is_causal
            True for causal attention.  The corresponding mask of the scores can then be
            omitted.
        """
        check_flags(
            "forward", tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal
        )
        x = tgt
        for layer in self.layers:
            x = layer(
                x, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                memory_key_padding_mask, bool(tgt_is_causal), memory_is_causal,
            )  # fmt: skip
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """The transformer: an encoder, and a decoder that attends to the encoder's output.

    The model has no embeddings and no final linear layer; add them around it.

    Vaswani et al.: Attention is all you need (2017).

    Parameters
    ----------
    d_model, nhead
        The number of features of the sequences, and the number of heads of each
        attention.
    num_encoder_layers, num_decoder_layers
        The numbers of layers of the encoder and of the decoder.  The encoder and the
        decoder each end with a norm.
    dim_feedforward, dropout, activation
        The same as for `TransformerEncoderLayer`.
    custom_encoder, custom_decoder
        Modules that are used instead of the encoder and the decoder.
    layer_norm_eps, batch_first, norm_first, bias, device, dtype
        The same as for `TransformerEncoderLayer`.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.nn.Transformer(16, 4, 1, 1, 32)
    >>> model(ac.randn(7, 2, 16), ac.randn(5, 2, 16)).shape
    autocalc.Size([5, 2, 16])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = functional.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches(
            "Transformer", batch_first=batch_first, norm_first=norm_first, bias=bias
        )
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        more = (batch_first, norm_first, bias, device, dtype)

        def norm() -> LayerNorm:
            return LayerNorm(
                d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype
            )

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*sizes, *more), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*sizes, *more), num_decoder_layers, norm()
        )
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        """Draw all matrices by `xavier_uniform_`."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                _init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the output of the decoder, of the same shape as `tgt`.

        Parameters
        ----------
        src, tgt
            The inputs of the encoder, of shape (S, B, d_model), and of the decoder, of
            shape (T, B, d_model).  With `batch_first`, the dimension B comes first.
        src_mask, tgt_mask, memory_mask
            The masks of the scores: the argument `attn_mask` of
            `MultiheadAttention.forward`.  `src_mask` is for the encoder, `tgt_mask` is
            for the decoder's self-attention, and `memory_mask` is for the decoder's
            attention to the encoder's output.
        src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask
            The masks of the keys: the argument `key_padding_mask` of
            `MultiheadAttention.forward`.
        src_is_causal, tgt_is_causal, memory_is_causal
            True for causal attention.  The corresponding mask of the scores can then be
            omitted.
        """
        check_flags(
            "forward",
            src_is_causal=src_is_causal,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        result: Tensor = self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
            memory_key_padding_mask, tgt_is_causal, memory_is_causal,
        )  # fmt: skip
        return result

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: str | Device | None = None, dtype: DType | None = None
    ) -> Tensor:
        """Return the mask of causal attention, a square matrix of `sz` rows.

        It is -inf above the diagonal and 0 elsewhere.  It is added to the scores.

        Parameters
        ----------
        sz
            The length of the sequence.
        device
            The device of the mask.  None means the default device.
        dtype
            The floating-point dtype of the mask.  None means the default dtype.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        if sz < 0:
            message = f"generate_square_subsequent_mask: `sz` is {sz}; give 0 or more."
            raise ArgumentError(message)
        mask = masking.where(causal_mask(sz, sz), 0.0, -math.inf)
        return mask.to(device=device, dtype=dtype)
