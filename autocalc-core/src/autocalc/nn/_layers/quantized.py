# SPDX-License-Identifier: MIT
"""Layers whose weights have 8 or 4 bits."""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.quantized._groups import CHUNK, group_bytes
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.creation.constants import zeros
from autocalc._ops.indexing import indexing
from autocalc._ops.matrices import matmul, quantized
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_switches, one_of, require
from autocalc.nn._layers.embedding import Embedding
from autocalc.nn._layers.linear import Linear
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

#: The bits of a weight, by the name of the format.
BITS = {"int8": 8, "int4": 4}


class _Quantized(Module):
    """A matrix of rows in groups of codes with a scale each."""

    weight: Tensor

    def __init__(self, rows: int, columns: int, weights: str, group: int) -> None:
        super().__init__()
        where = type(self).__name__
        one_of(where, "weights", weights, tuple(BITS))
        check_group(where, group)
        require(
            where, "the row's size", columns, columns % group == 0,
            f"a multiple of the group of {group}",
        )  # fmt: skip
        self.weights, self.bits, self.group = weights, BITS[weights], group
        shape = rows, columns // group, group_bytes(self.bits, group)
        self.register_buffer("weight", zeros(*shape, dtype=dtypes.uint8))

    def dequantize(self) -> Tensor:
        """Return the weights in float32, as the layer uses them."""
        return quantized.dequantize_op(self.weight, self.bits, self.group)

    def quantize(self, weight: Tensor) -> None:
        """Round a matrix to the layer's format and keep it.

        Parameters
        ----------
        weight
            A floating-point matrix, of the shape of `dequantize`.
        """
        check_tensor(type(self).__name__, weight)
        with no_grad():
            packed = quantized.quantize_op(
                weight.detach().float(), self.bits, self.group
            )
            self.weight.copy_(packed)


def check_group(where: str, group: Any) -> None:
    """Raise unless so many numbers can have one scale."""
    holds = isinstance(group, int) and group > 0 and group % CHUNK == 0
    require(where, "group", group, holds, f"a positive multiple of {CHUNK}")


class QuantizedLinear(_Quantized):
    """Linear layer y = x W^T + b with weights of 8 or 4 bits.

    A row of W is divided in groups of `group` numbers. A group is stored as one scale s
    in float16 and a code q for each number, and its numbers are s q. With 8 bits, s is
    max|w| / 127; with 4 bits, it is w / -8 for the w of the largest magnitude. Groups
    of 32 are the blocks ``Q8_0`` and ``Q4_0`` of GGUF files.

    Gradients flow to x and b, not to the weights. The rounding of x counts as the
    identity, so that layers before this one can be trained.

    Parameters
    ----------
    in_features, out_features
        The numbers of features of x and of y. `in_features` must be a multiple of
        `group`.
    bias
        True to add the bias b.
    weights
        The format of the weights, ``"int8"`` or ``"int4"``.
    group
        How many numbers have one scale: 32, or a multiple of 32.
    activations
        ``"int8"`` rounds x in groups to 8 bits, too, and multiplies integers, which is
        fast. ``"float32"`` keeps x as it is and converts the weights for each call.

    Attributes
    ----------
    weight
        The packed weights: a buffer of uint8 of shape
        ``[out_features, in_features / group, 2 + group * bits / 8]``, initially 0.
    bias
        The vector b of shape ``[out_features]``, initially 0; None without a bias.

    Raises
    ------
    ArgumentError
        If `in_features` is not a multiple of `group`, or `group` not one of 32.

    References
    ----------
    .. [1] T. Dettmers et al., "LLM.int8(): 8-bit Matrix Multiplication for Transformers
       at Scale", NeurIPS 2022, arXiv:2208.07339.

    Examples
    --------
    >>> import autocalc as ac
    >>> dense = ac.nn.Linear(64, 3)
    >>> layer = ac.nn.QuantizedLinear.from_linear(dense, "int8")
    >>> layer(ac.randn(5, 64)).shape, layer.weight.shape
    (autocalc.Size([5, 3]), autocalc.Size([3, 2, 34]))
    """

    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weights: str = "int8",
        group: int = 32,
        activations: str = "int8",
    ) -> None:
        check_switches("QuantizedLinear", bias=bias)
        in_features, out_features = check_sizes(
            "QuantizedLinear", in_features=in_features, out_features=out_features
        )
        one_of("QuantizedLinear", "activations", activations, ("int8", "float32"))
        super().__init__(out_features, in_features, weights, group)
        self.in_features, self.out_features = in_features, out_features
        self.activations = activations
        self.register_parameter(
            "bias", Parameter(zeros(out_features)) if bias else None
        )

    @classmethod
    def from_linear(
        cls,
        linear: Linear,
        weights: str = "int8",
        group: int = 32,
        activations: str = "int8",
    ) -> QuantizedLinear:
        """Return a layer with the rounded weights of a `Linear`, and its bias.

        Parameters
        ----------
        linear
            The layer whose weights are rounded; it stays as it is.
        weights, group, activations
            The same as for the class.
        """
        bias = linear.bias
        layer = cls(
            linear.in_features, linear.out_features, bias is not None, weights, group,
            activations,
        )  # fmt: skip
        layer.quantize(linear.weight)
        layer.bias = bias
        return layer.train(linear.training)

    def forward(self, input: Tensor) -> Tensor:
        """Return x W^T + b, of shape (..., out_features), for x (..., in_features)."""
        if self.activations == "float32":
            return matmul.linear(input, self.dequantize(), self.bias)
        out: Tensor = quantized.quantized_linear_op(
            input, self.weight, self.bias, self.bits, self.group
        )
        return out

    def extra_repr(self) -> str:
        """Return the sizes and formats as text for `repr`."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}, weights={self.weights!r}, "
            f"group={self.group}, activations={self.activations!r}"
        )


class QuantizedEmbedding(_Quantized):
    """A table of vectors with 8 or 4 bits for each number.

    Rows are stored as in `QuantizedLinear`. The table gets no gradient.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The numbers of rows and of columns; `embedding_dim` must be a multiple of
        `group`.
    weights, group
        The same as for `QuantizedLinear`.

    Examples
    --------
    >>> import autocalc as ac
    >>> table = ac.nn.QuantizedEmbedding.from_embedding(ac.nn.Embedding(10, 32), "int4")
    >>> table(ac.tensor([1, 7])).shape
    autocalc.Size([2, 32])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        weights: str = "int8",
        group: int = 32,
    ) -> None:
        num_embeddings, embedding_dim = check_sizes(
            "QuantizedEmbedding",
            num_embeddings=num_embeddings,
            embedding_dim=embedding_dim,
        )
        super().__init__(num_embeddings, embedding_dim, weights, group)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim

    @classmethod
    def from_embedding(
        cls, embedding: Embedding, weights: str = "int8", group: int = 32
    ) -> QuantizedEmbedding:
        """Return a table with the rounded rows of an `Embedding`.

        Parameters
        ----------
        embedding
            The table whose rows are rounded; it stays as it is.
        weights, group
            The same as for the class.
        """
        table = cls(embedding.num_embeddings, embedding.embedding_dim, weights, group)
        table.quantize(embedding.weight)
        return table.train(embedding.training)

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows that `input` selects, of shape ``(*, embedding_dim)``."""
        rows = indexing.index_select(self.weight, 0, view.reshape(input, (-1,)))
        numbers = quantized.dequantize_op(rows, self.bits, self.group)
        return view.reshape(numbers, (*input.shape, self.embedding_dim))

    def extra_repr(self) -> str:
        """Return the sizes and the format as text for `repr`."""
        return (
            f"{self.num_embeddings}, {self.embedding_dim}, weights={self.weights!r}, "
            f"group={self.group}"
        )
