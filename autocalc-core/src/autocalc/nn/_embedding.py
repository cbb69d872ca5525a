# SPDX-License-Identifier: MIT
"""A table of vectors, one for each word."""

from __future__ import annotations

from autocalc._creation import empty
from autocalc._device import Device
from autocalc._dtypes import DType
from autocalc._functional.indexing import refuse_embedding_options, row_number
from autocalc._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.errors import ShapeError
from autocalc.nn import _init, functional
from autocalc.nn._checks import check_sizes
from autocalc.nn._module import Module
from autocalc.nn._parameter import Parameter


class Embedding(Module):
    """weight[x]: a row of the table for each number.

    Parameters
    ----------
    num_embeddings, embedding_dim
        Rows and columns of the table.
    padding_idx
        A row that is zero at first and gets no gradient; negative ones count from the
        end.
    max_norm, norm_type, scale_grad_by_freq, sparse
        Must be left out; there for PyTorch's argument order.
    dtype
        Of the table.

    Attributes
    ----------
    weight
        The table, (num_embeddings, embedding_dim), drawn from the standard normal
        distribution.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Embedding(10, 3, padding_idx=0)
    >>> layer(ac.tensor([[1, 2], [4, 0]])).shape
    (2, 2, 3)
    >>> layer(ac.tensor(0)).tolist()
    [0.0, 0.0, 0.0]
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        Device(device or "cpu")
        check_sizes(
            "Embedding", num_embeddings=num_embeddings, embedding_dim=embedding_dim
        )
        refuse_embedding_options(
            "Embedding", max_norm, norm_type, scale_grad_by_freq, sparse
        )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = row_number("Embedding", padding_idx, num_embeddings)
        if _weight is not None:
            _check_table(_weight, (num_embeddings, embedding_dim))
            self.weight = Parameter(_weight, requires_grad=not _freeze)
            return
        table = empty(num_embeddings, embedding_dim, dtype=dtype)
        self.weight = Parameter(table, requires_grad=not _freeze)
        self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
    ) -> Embedding:
        """Make the layer of a table that is there already, and shares its memory.

        Parameters
        ----------
        embeddings
            The table, (V, D).
        freeze
            Whether it stays as it is in training.
        padding_idx
            As above; the row is not set to zero.

        Examples
        --------
        >>> import autocalc as ac
        >>> table = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> ac.nn.Embedding.from_pretrained(table)(ac.tensor(1)).tolist()
        [3.0, 4.0]
        """
        if embeddings.ndim != 2:
            message = (
                f"Embedding.from_pretrained: `embeddings` has shape "
                f"{embeddings.shape}; it must be a table of two dimensions, [V, D]."
            )
            raise ShapeError(message)
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew; the padding row becomes zero."""
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows that `input` (any shape, integers) numbers."""
        return functional.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        """Name the sizes, and the padding if there is one."""
        sizes = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is None:
            return sizes
        return f"{sizes}, padding_idx={self.padding_idx}"


def _check_table(weight: Tensor, needed: tuple[int, int]) -> None:
    if weight.shape != needed:
        message = (
            f"Embedding: `_weight` has shape {weight.shape}, the sizes given are "
            f"{needed}; they must be equal."
        )
        raise ShapeError(message)
