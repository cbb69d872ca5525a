# SPDX-License-Identifier: MIT
"""Embedding tables: single vectors by index, or bags of them."""

from __future__ import annotations

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.checks import check_shape, check_sizes
from autocalc._ops.creation.constants import empty
from autocalc._ops.embedding.rows import check_sparse, row_number
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ShapeError
from autocalc.nn import _init, functional
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class Embedding(Module):
    """A table of vectors; each index in the input selects one row of the table.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The numbers of rows and of columns of the table.
    padding_idx
        The index of a row that is initially 0 and gets no gradient.  A negative index
        counts from the end.  None means that there is no such row.
    max_norm, norm_type, scale_grad_by_freq, sparse
        The same as for `functional.embedding`.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight
        The table, of shape (num_embeddings, embedding_dim).  The initial values are
        standard normal random numbers.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Embedding(10, 3, padding_idx=0)
    >>> layer(ac.tensor([[1, 2], [4, 0]])).shape
    autocalc.Size([2, 2, 3])
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
        check_flags("Embedding", scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)
        super().__init__()
        num_embeddings, embedding_dim = check_sizes(
            "Embedding", num_embeddings=num_embeddings, embedding_dim=embedding_dim
        )
        check_sparse("Embedding", sparse, scale_grad_by_freq)
        self.sparse = sparse
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = row_number("Embedding", padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is not None:
            _check_table("Embedding", _weight, (num_embeddings, embedding_dim))
            self.weight = Parameter(_weight, requires_grad=not _freeze)
            return
        table = empty(num_embeddings, embedding_dim, dtype=dtype, device=device)
        self.weight = Parameter(table, requires_grad=not _freeze)
        self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Make a layer from an existing table; the layer shares its memory.

        Parameters
        ----------
        embeddings
            The table, of shape (num_embeddings, embedding_dim), with a floating-point
            dtype.
        freeze
            True to keep the table constant in training.
        padding_idx
            The same as for the class, but the row is not set to 0.
        max_norm, norm_type, scale_grad_by_freq, sparse
            The same as for the class.

        Examples
        --------
        >>> import autocalc as ac
        >>> table = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> ac.nn.Embedding.from_pretrained(table)(ac.tensor(1)).tolist()
        [3.0, 4.0]
        """
        check_flags(
            "from_pretrained",
            freeze=freeze,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )
        rows, columns = _table_shape("Embedding", embeddings)
        return cls(
            rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, embeddings, freeze,
        )  # fmt: skip

    def reset_parameters(self) -> None:
        """Draw new initial values for the table; the row of `padding_idx` becomes 0."""
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows of the table, of shape ``(*input.shape, embedding_dim)``.

        `input` holds integer indices and can have any shape.
        """
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Return the sizes and non-default settings as text for `repr`."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text + _options(self)


class EmbeddingBag(Module):
    """The sum, mean or maximum of the embedding vectors of each bag of indices.

    Parameters
    ----------
    num_embeddings, embedding_dim
        The numbers of rows and of columns of the table.
    max_norm, norm_type, scale_grad_by_freq, sparse
        The same as for `functional.embedding`.
    mode
        ``"sum"``, ``"mean"`` or ``"max"``.
    include_last_offset
        True if the argument ``offsets`` of a call has one more element: the end of the
        last bag.
    padding_idx
        An index that is skipped.  Its row is initially 0 and gets no gradient.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight
        The table, of shape (num_embeddings, embedding_dim).  The initial values are
        standard normal random numbers.

    Examples
    --------
    >>> import autocalc as ac
    >>> bags = ac.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bags(ac.tensor([[1, 2], [4, 4]])).shape
    autocalc.Size([2, 3])
    >>> bags(ac.tensor([1, 2, 4, 5]), ac.tensor([0, 3])).shape
    autocalc.Size([2, 3])
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_flags(
            "EmbeddingBag",
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            include_last_offset=include_last_offset,
        )
        super().__init__()
        name = "EmbeddingBag"
        num_embeddings, embedding_dim = check_sizes(
            name, num_embeddings=num_embeddings, embedding_dim=embedding_dim
        )
        check_sparse(name, sparse, scale_grad_by_freq)
        self.sparse = sparse
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.mode = mode
        self.include_last_offset = include_last_offset
        self.padding_idx = row_number(name, padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        if _weight is not None:
            _check_table(name, _weight, (num_embeddings, embedding_dim))
            self.weight = Parameter(_weight)
            return
        self.weight = Parameter(
            empty(num_embeddings, embedding_dim, dtype=dtype, device=device)
        )
        self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Make a layer from an existing table; the layer shares its memory.

        Parameters
        ----------
        embeddings
            The table, of shape (num_embeddings, embedding_dim), with a floating-point
            dtype.
        freeze
            True to keep the table constant in training.
        max_norm, norm_type, scale_grad_by_freq, sparse
            The same as for the class.
        mode, include_last_offset, padding_idx
            The same as for the class, but the row of `padding_idx` is not set to 0.

        Examples
        --------
        >>> import autocalc as ac
        >>> table = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> ac.nn.EmbeddingBag.from_pretrained(table)(ac.tensor([[0, 1]])).tolist()
        [[2.0, 3.0]]
        """
        check_flags(
            "from_pretrained",
            freeze=freeze,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            include_last_offset=include_last_offset,
        )
        rows, columns = _table_shape("EmbeddingBag", embeddings)
        layer = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse,
            embeddings, include_last_offset, padding_idx,
        )  # fmt: skip
        layer.weight.requires_grad_(not freeze)
        return layer

    def reset_parameters(self) -> None:
        """Draw new initial values for the table; the row of `padding_idx` becomes 0."""
        _init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].zero_()

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Return one vector for each bag, of shape (bags, embedding_dim).

        An input of shape (B, L) holds B bags of L indices.  A one-dimensional input
        holds all bags one after the other; then `offsets` gives the start of each bag.

        Parameters
        ----------
        input, offsets, per_sample_weights
            The same as for `functional.embedding_bag`.
        """
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Return the sizes, the mode and non-default settings as text for `repr`."""
        text = f"{self.num_embeddings}, {self.embedding_dim}{_options(self)}"
        text += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        return text


def _options(layer: Embedding | EmbeddingBag) -> str:
    """Return the options of a table that are in use, by name."""
    defaults = {"max_norm": None, "norm_type": 2, "scale_grad_by_freq": False}
    defaults["sparse"] = False
    given = {word: getattr(layer, word) for word in defaults}
    used = (f", {w}={x!r}" for w, x in given.items() if x != defaults[w])
    return "".join(used)


def _table_shape(where: str, table: Tensor) -> tuple[int, int]:
    check_shape(
        f"{where}.from_pretrained",
        "embeddings",
        table,
        "a table of two dimensions, [V, D]",
    )
    rows, columns = table.shape
    return rows, columns


def _check_table(where: str, weight: Tensor, needed: tuple[int, int]) -> None:
    if weight.shape != needed:
        raise ShapeError(
            f"{where}: `_weight` has shape {weight.shape}, but the given sizes are "
            f"{needed}; they must be equal."
        )
