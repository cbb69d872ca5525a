# SPDX-License-Identifier: MIT
"""Rows of a table by number, with the options that PyTorch has for them."""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops import elementwise
from autocalc._ops import embedding as embedding_op
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import cast
from autocalc._ops.creation import ones, zeros
from autocalc._ops.functional.choosing import where
from autocalc._ops.functional.vector_norms import vector_norm
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DTypeError, ShapeError

#: Keeps a row of length 0 from a division by 0.
_SMALL = 1e-7


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    r"""Return the rows of `weight` that `input` numbers: weight[input].

    Parameters
    ----------
    input
        Numbers from 0 to V - 1, of any shape (\*), of an integer dtype.
    weight
        The table, (V, D).
    padding_idx
        A row that gets no gradient; negative ones count from the end.
    max_norm
        Rows that `input` names are first made as short as this, in place.
    norm_type
        The p of the norm that `max_norm` limits, (sum abs(x)^p)^(1 / p).
    scale_grad_by_freq
        Whether a row's gradient is divided by how often `input` names the row.
    sparse
        Must be False: there are no sparse gradients.

    Returns
    -------
    Tensor
        Of shape (\*, D).

    Raises
    ------
    KernelDataError
        If a number is outside 0 to V - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> table = ac.tensor([[0.0, 0.0], [1.0, 2.0]])
    >>> ac.nn.functional.embedding(ac.tensor([1, 0, 1]), table)
    tensor([[1., 2.],
            [0., 0.],
            [1., 2.]])
    """
    refuse_sparse("embedding", sparse)
    if (
        check_tensor("embedding", input).dtype is dtypes.bool_
        or input.is_floating_point()
    ):
        message = (
            f"embedding: `input` has dtype {input.dtype.name}; it holds the numbers of "
            f"rows, which must be integers."
        )
        raise DTypeError(message)
    if check_tensor("embedding", weight).ndim != 2:
        message = (
            f"embedding: `weight` has shape {weight.shape}; it must be a table of two "
            f"dimensions, [V, D]."
        )
        raise ShapeError(message)
    padding = row_number("embedding", padding_idx, weight.shape[0])
    kept = -1 if padding is None else padding
    numbers = cast(input, dtypes.int64)
    if max_norm is not None:
        _shorten(weight, shapes.reshape(numbers, (-1,)), max_norm, norm_type)
    return embedding_op.embedding(weight, numbers, kept, bool(scale_grad_by_freq))


def _shorten(weight: Tensor, numbers: Tensor, most: float, p: float) -> None:
    """Scale the rows that `numbers` name, and that are longer, to the length `most`."""
    with no_grad():
        times = zeros(weight.shape[0], dtype=dtypes.int64)
        one = ones(numbers.shape[0], dtype=dtypes.int64)
        named = elementwise.gt(shapes.index_add(times, numbers, one, 0), 0)
        length = vector_norm(weight, p, 1)
        scale = where(named, where(length > most, most / (length + _SMALL), 1.0), 1.0)
        weight.mul_(shapes.reshape(scale, (-1, 1)))


def refuse_sparse(where: str, sparse: Any) -> None:
    """Raise if a sparse gradient is asked for."""
    if sparse:
        message = f"{where}: `sparse`={sparse} is not available; leave it out."
        raise ArgumentError(message)


def row_number(where: str, padding_idx: Any, rows: int) -> int | None:
    """Return the number of the padding row, counted from the first."""
    if padding_idx is None:
        return None
    if not isinstance(padding_idx, int) or not -rows <= padding_idx < rows:
        message = (
            f"{where}: `padding_idx` is {padding_idx!r} for a table of {rows} rows; it "
            f"must lie in {-rows} to {rows - 1}."
        )
        raise ArgumentError(message)
    return padding_idx % rows
