# SPDX-License-Identifier: MIT
"""Functions that make nested tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import as_tensor, tensor
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flags, sequence
from autocalc._tensor.dtypes import DType
from autocalc._tensor.layouts import jagged
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nested._tensor import NestedTensor


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a nested tensor with copies of some sequences.

    Parameters
    ----------
    tensor_list
        The sequences: tensors, or lists of numbers, whose shapes differ in the first
        dimension only.
    dtype
        The dtype; by default that of the first sequence.
    layout
        ``jagged``, the only layout, or None.
    device
        The device; by default that of the sequences.
    requires_grad
        True if gradients with respect to the rows are wanted.
    pin_memory
        It has no effect.

    Returns
    -------
    Tensor
        A nested tensor of shape ``[B, j1, ...]``.

    Raises
    ------
    ShapeError
        If the shapes differ in another dimension than the first.
    ArgumentError
        If there is no sequence, or `layout` is not ``jagged``.

    Examples
    --------
    >>> import autocalc as ac
    >>> batch = ac.nested.nested_tensor([ac.ones(2, 3), ac.ones(4, 3)])
    >>> batch.shape, batch.values().shape
    (autocalc.Size([2, j1, 3]), autocalc.Size([6, 3]))
    """
    where = "nested_tensor"
    check_flags(where, requires_grad=requires_grad, pin_memory=pin_memory)
    given = [as_tensor(x).detach() for x in sequence(where, "tensor_list", tensor_list)]
    made = _joined(where, given, dtype, layout, device)
    return made.requires_grad_() if requires_grad else made


def as_nested_tensor(
    ts: Any, dtype: DType | None = None, device: Any = None, layout: Any = None
) -> Tensor:
    """Return a nested tensor of some sequences, through which gradients flow.

    Parameters
    ----------
    ts
        The sequences, whose shapes differ in the first dimension only; or one dense
        tensor of shape ``[B, L, ...]``; or a nested tensor, which is returned.
    dtype
        The dtype; by default that of the first sequence.
    device
        The device; by default that of the sequences.
    layout
        ``jagged``, the only layout, or None.

    Returns
    -------
    Tensor
        A nested tensor of shape ``[B, j1, ...]``.

    Raises
    ------
    ShapeError
        If the shapes differ in another dimension than the first.
    ArgumentError
        If there is no sequence, or `layout` is not ``jagged``.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, 3, requires_grad=True)
    >>> ac.nested.as_nested_tensor([x, x[:1]]).values().sum().backward()
    >>> x.grad
    tensor([[2., 2., 2.],
            [1., 1., 1.]])
    """
    if isinstance(ts, NestedTensor):
        return ts
    given = (
        ts.unbind(0)
        if isinstance(ts, Tensor)
        else sequence("as_nested_tensor", "ts", ts)
    )
    tensors = [as_tensor(x) for x in given]
    return _joined("as_nested_tensor", tensors, dtype, layout, device)


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Tensor:
    """Return a nested tensor of given rows, on the same memory.

    Parameters
    ----------
    values
        The rows of all sequences, ``[rows, ...]``.
    offsets
        A vector ``[B + 1]`` of integers: the first row of each sequence, and the number
        of rows.
    lengths
        In place of `offsets`: the number of rows of each sequence, ``[B]``.
    jagged_dim
        It must be 1 or None.
    min_seqlen, max_seqlen
        They have no effect.

    Returns
    -------
    Tensor
        A nested tensor of shape ``[B, j1, ...]``.

    Raises
    ------
    ArgumentError
        If not exactly one of `offsets` and `lengths` is given, or `jagged_dim` is
        another dimension.
    ShapeError
        If they do not fit the rows.

    Examples
    --------
    >>> import autocalc as ac
    >>> rows, lengths = ac.arange(3), ac.tensor([1, 2])
    >>> batch = ac.nested.nested_tensor_from_jagged(rows, lengths=lengths)
    >>> batch.unbind()
    (tensor([0]), tensor([1, 2]))
    """
    where = "nested_tensor_from_jagged"
    del min_seqlen, max_seqlen
    if (offsets is None) == (lengths is None) or jagged_dim not in (None, 1):
        raise ArgumentError(
            f"{where}: give one of `offsets` and `lengths`, and no `jagged_dim` but 1."
        )
    rows: Any = values
    if not isinstance(rows, Tensor) or rows.ndim == 0:
        raise DTypeError(f"{where}: `values` must be a tensor with a first dimension.")
    if offsets is None:
        assert lengths is not None
        zero = zeros(1, dtype=dtypes.int64)
        offsets = cat([zero, as_tensor(lengths).to(dtypes.int64).cumsum(0)])
    ends = offsets.tolist()
    rises = all(a <= b for a, b in pairwise(ends))
    if (
        offsets.ndim != 1
        or not ends
        or ends[0] != 0
        or ends[-1] != values.shape[0]
        or not rises
    ):
        raise ShapeError(
            f"{where}: the offsets must begin with 0, must not decrease, and must end "
            f"with the number of rows, {values.shape[0]}; they are {ends[:8]}."
        )
    return NestedTensor(values, offsets.to(dtypes.int64))


def _joined(
    where: str, given: Any, dtype: Any, layout: Any, device: Any
) -> NestedTensor:
    if layout is not None and layout is not jagged:
        message = f"{where}: `layout` is {layout!r}; the only layout is jagged."
        raise ArgumentError(message)
    if not given:
        raise ArgumentError(f"{where}: there is no sequence; give one or more.")
    first = given[0]
    if any(x.ndim == 0 or x.shape[1:] != first.shape[1:] for x in given):
        raise ShapeError(
            f"{where}: Cannot represent given tensor list as a nested tensor with the "
            f"jagged layout: the shapes are {[tuple(x.shape) for x in given[:4]]}; "
            "only the first sizes may differ."
        )
    rows = cat([x.to(first.dtype) for x in given])
    if dtype is not None:
        rows = rows.to(dtype)
    if device is not None:
        rows = rows.to(device)
    lengths = tensor([x.shape[0] for x in given], dtype=dtypes.int64)
    offsets = cat([zeros(1, dtype=dtypes.int64), lengths.cumsum(0)])
    return NestedTensor(rows, offsets)
