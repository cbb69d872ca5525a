# SPDX-License-Identifier: MIT
"""Functions that make sparse tensors of their parts, and check them."""

from __future__ import annotations

from typing import Any

from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import as_tensor
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import check_flags, integers
from autocalc._tensor.dtypes import DType
from autocalc._tensor.layouts import sparse_csc, sparse_csr
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.sparse._compressed import CscTensor, CsrTensor
from autocalc.sparse._coo import CooTensor
from autocalc.sparse._tensor import SparseTensor

_INTEGERS = (dtypes.int64, dtypes.int32)


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """Return a sparse tensor with these values at these coordinates.

    Values at the same coordinates are added.

    Parameters
    ----------
    indices
        The coordinates, integers of shape ``[sparse_dim, nnz]``.  If only sizes are
        given here, the tensor has no entries.
    values
        The values, of shape ``[nnz, *dense]``.
    size
        The shape of the tensor; by default the smallest that holds all coordinates.
    dtype
        The dtype; by default that of the values.
    device
        The device; by default that of the values.
    pin_memory
        It has no effect.
    requires_grad
        True if gradients with respect to the tensor are wanted.
    check_invariants
        It has no effect: coordinates are always checked.
    is_coalesced
        True if you know that the coordinates are sorted and different.

    Returns
    -------
    Tensor
        A sparse tensor in the layout ``sparse_coo``.

    Raises
    ------
    ShapeError
        If the shapes of `indices`, `values` and `size` do not fit, or a coordinate is
        outside of `size`.
    DTypeError
        If `indices` are not integers.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    where = "sparse_coo_tensor"
    check_flags(where, pin_memory=pin_memory, requires_grad=requires_grad)
    check_flags(where, check_invariants=check_invariants, is_coalesced=is_coalesced)
    if values is None and size is None:
        return _without_entries(where, indices, dtype, device, requires_grad)
    index, data = _index(where, indices), _values(values, dtype, device)
    if index.ndim != 2:
        raise ShapeError(
            f"{where}: indices must be sparse_dim x nnz, but got shape {index.shape}."
        )
    data = data.reshape(1).expand(index.shape[1]) if data.ndim == 0 else data
    if data.shape[0] != index.shape[1]:
        raise ShapeError(
            f"{where}: indices and values must have same nnz, but got nnz from "
            f"indices: {index.shape[1]}, nnz from values: {data.shape[0]}."
        )
    shape = _least(index, data) if size is None else _sizes(where, size)
    _check_coo(where, index, data, shape)
    made = CooTensor(index, data, shape, bool(is_coalesced))
    if is_coalesced:
        _check_order(where, made)
    return _finished(made, requires_grad)


def _check_order(where: str, made: CooTensor) -> None:
    key = made._key()
    if made._nnz() > 1 and not bool((key[1:] > key[:-1]).all()):
        raise ArgumentError(
            f"{where}: cannot set is_coalesced to true if indices correspond to "
            "uncoalesced COO tensor: they must be sorted and different."
        )


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse matrix whose entries are stored row by row.

    Parameters
    ----------
    crow_indices
        A vector ``[rows + 1]`` of integers: the first entry of each row, and the number
        of entries.
    col_indices
        The column of each entry, ``[nnz]``; ascending in each row.
    values
        The values, of shape ``[nnz]``.
    size
        The shape of the matrix; by default the smallest that holds all entries.
    dtype
        The dtype; by default that of the values.
    device
        The device; by default that of the values.
    pin_memory
        It has no effect.
    requires_grad
        True if gradients with respect to the matrix are wanted.
    check_invariants
        It has no effect: indices are always checked.

    Returns
    -------
    Tensor
        A sparse tensor in the layout ``sparse_csr``.

    Raises
    ------
    ShapeError
        If the parts do not fit together or an index is outside of `size`.
    DTypeError
        If the indices are not int64 or int32.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    check_flags("sparse_csr_tensor", check_invariants=check_invariants)
    check_flags("sparse_csr_tensor", pin_memory=pin_memory, requires_grad=requires_grad)
    given = crow_indices, col_indices, _values(values, dtype, device)
    made = _compressed("sparse_csr_tensor", CsrTensor, *given, size)
    return _finished(made, requires_grad)


def sparse_csc_tensor(
    ccol_indices: Any,
    row_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: DType | None = None,
    device: Any = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse matrix whose entries are stored column by column.

    Parameters
    ----------
    ccol_indices
        A vector ``[columns + 1]`` of integers: the first entry of each column, and the
        number of entries.
    row_indices
        The row of each entry, ``[nnz]``; ascending in each column.
    values
        The values, of shape ``[nnz]``.
    size
        The shape of the matrix; by default the smallest that holds all entries.
    dtype
        The dtype; by default that of the values.
    device
        The device; by default that of the values.
    pin_memory
        It has no effect.
    requires_grad
        True if gradients with respect to the matrix are wanted.
    check_invariants
        It has no effect: indices are always checked.

    Returns
    -------
    Tensor
        A sparse tensor in the layout ``sparse_csc``.

    Raises
    ------
    ShapeError
        If the parts do not fit together or an index is outside of `size`.
    DTypeError
        If the indices are not int64 or int32.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sparse_csc_tensor([0, 1, 1, 2], [1, 0], [4.0, 3.0], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    check_flags("sparse_csc_tensor", check_invariants=check_invariants)
    check_flags("sparse_csc_tensor", pin_memory=pin_memory, requires_grad=requires_grad)
    given = ccol_indices, row_indices, _values(values, dtype, device)
    made = _compressed("sparse_csc_tensor", CscTensor, *given, size)
    return _finished(made, requires_grad)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: DType | None = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """Return a sparse matrix in the layout CSR or CSC.

    Parameters
    ----------
    compressed_indices, plain_indices, values, size
        The same as the four arguments of `sparse_csr_tensor` or `sparse_csc_tensor`.
    dtype
        The dtype; by default that of the values.
    layout
        ``sparse_csr`` or ``sparse_csc``.
    device
        The device; by default that of the values.
    pin_memory
        It has no effect.
    requires_grad
        True if gradients with respect to the matrix are wanted.
    check_invariants
        It has no effect: indices are always checked.

    Returns
    -------
    Tensor
        A sparse tensor in that layout.

    Raises
    ------
    ArgumentError
        If `layout` is another one, or is missing.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.sparse_compressed_tensor([0, 1], [1], [2.0], layout=ac.sparse_csr).to_dense()
    tensor([[0., 2.]])
    """
    where = "sparse_compressed_tensor"
    if layout is not sparse_csr and layout is not sparse_csc:
        raise ArgumentError(
            f"{where}: expected layout sparse_csr or sparse_csc, but got {layout!r}."
        )
    make = sparse_csr_tensor if layout is sparse_csr else sparse_csc_tensor
    return make(
        compressed_indices,
        plain_indices,
        values,
        size,
        dtype=dtype,
        device=device,
        pin_memory=pin_memory,
        requires_grad=requires_grad,
        check_invariants=check_invariants,
    )


def rows(index: Tensor, values: Tensor, shape: tuple[int, ...]) -> CooTensor:
    """Return a tensor whose rows `index` are `values`, without checks."""
    return CooTensor(index.reshape(1, -1), values, shape)


# ---- parts ---------------------------------------------------------------------------


def _index(where: str, given: Any) -> Tensor:
    x = as_tensor(given)
    if x.numel() == 0 and not isinstance(given, Tensor):
        x = x.to(dtypes.int64)  # an empty list
    if x.is_floating_point() or x.dtype is dtypes.bool_:
        raise DTypeError(
            f"{where}: indices must be an int64 tensor or list, not {x.dtype.name}."
        )
    return x.detach().to(dtypes.int64)


def _values(given: Any, dtype: DType | None, device: Any) -> Tensor:
    return as_tensor(given, dtype=dtype, device=device)


def _sizes(where: str, size: Any) -> tuple[int, ...]:
    shape = integers(where, "size", size)
    if min(shape, default=0) < 0:
        raise ShapeError(f"{where}: the size {shape} must not be negative.")
    return shape


def _least(index: Tensor, values: Tensor) -> tuple[int, ...]:
    """Return the smallest shape that holds all coordinates."""
    if not index.shape[1]:
        return (*(0,) * index.shape[0], *values.shape[1:])
    sizes = [int(n) + 1 for n in index.amax(1).tolist()]
    return (*sizes, *values.shape[1:])


def _check_coo(where: str, index: Tensor, values: Tensor, shape: Any) -> None:
    n = index.shape[0]
    if n + values.ndim - 1 != len(shape):
        raise ShapeError(
            f"{where}: number of dimensions must be sparse_dim ({n}) + dense_dim "
            f"({values.ndim - 1}), but got {len(shape)}."
        )
    if tuple(values.shape[1:]) != tuple(shape[n:]):
        raise ShapeError(
            f"{where}: values has incorrect size, expected "
            f"{[index.shape[1], *shape[n:]]}, got {list(values.shape)}."
        )
    if not index.shape[1]:
        return
    bounds = zip(index.amin(1).tolist(), index.amax(1).tolist(), shape, strict=False)
    for d, (least, most, size) in enumerate(bounds):
        if least < 0:
            message = f"{where}: found negative index {least} for dim {d}."
            raise ShapeError(message)
        if most >= size:
            raise ShapeError(
                f"{where}: size is inconsistent with indices: for dim {d}, size is "
                f"{size} but found index {most}."
            )


def _compressed(
    where: str, kind: Any, starts: Any, plain: Any, values: Tensor, size: Any
) -> Any:
    names = kind._names
    parts = [
        _compressed_index(where, *pair)
        for pair in zip(names, (starts, plain), strict=True)
    ]
    first, other = parts
    if first.dtype is not other.dtype:
        raise DTypeError(
            f"{where}: {names[0]} and {names[1]} must have the same dtype, not "
            f"{first.dtype.name} and {other.dtype.name}."
        )
    if first.ndim != 1 or other.ndim != 1 or values.ndim < 1:
        raise ShapeError(
            f"{where}: {names[0]}, {names[1]} and values have shapes {first.shape}, "
            f"{other.shape} and {values.shape}; the indices must be vectors. Batches "
            "of matrices are not supported."
        )
    if size is None:
        most = int(other.max()) + 1 if other.numel() else 0
        pair = first.shape[0] - 1, most
        shape = (*(pair if kind._axis == 0 else pair[::-1]), *values.shape[1:])
    else:
        shape = _sizes(where, size)
    _check_compressed(where, kind, first, other, values, shape)
    return kind(first, other, values, shape)


def _compressed_index(where: str, name: str, given: Any) -> Tensor:
    x = as_tensor(given)
    if x.numel() == 0 and not isinstance(given, Tensor):
        x = x.to(dtypes.int64)
    if x.dtype not in _INTEGERS:
        raise DTypeError(
            f"{where}: {name} must be an int32 or int64 tensor, not {x.dtype.name}."
        )
    return x.detach()


def _check_compressed(
    where: str, kind: Any, starts: Tensor, plain: Tensor, values: Tensor, shape: Any
) -> None:
    first, other = kind._names
    if len(shape) != 1 + values.ndim or tuple(shape[2:]) != tuple(values.shape[1:]):
        raise ShapeError(
            f"{where}: the size {tuple(shape)} does not fit values of shape "
            f"{values.shape}; it must be two sizes and those of a value."
        )
    if starts.shape[0] != shape[kind._axis] + 1:
        raise ShapeError(
            f"{where}: {first}.shape[-1] must be equal to the number of "
            f"{'rows' if kind._axis == 0 else 'columns'} plus one "
            f"({shape[kind._axis] + 1}), but got {starts.shape[0]}."
        )
    if plain.shape[0] != values.shape[0]:
        raise ShapeError(
            f"{where}: {other} and values must have the same number of entries, but "
            f"got {plain.shape[0]} and {values.shape[0]}."
        )
    if int(starts[0]) != 0 or int(starts[-1]) != plain.shape[0]:
        raise ShapeError(
            f"{where}: {first} must begin with 0 and end with the number of entries, "
            f"{plain.shape[0]}; it begins with {int(starts[0])} and ends with "
            f"{int(starts[-1])}."
        )
    lengths = starts[1:] - starts[:-1]
    most = shape[1 - kind._axis]
    if lengths.numel() and (int(lengths.min()) < 0 or int(lengths.max()) > most):
        raise ShapeError(
            f"{where}: {first} must not decrease, and no step may be above {most}; "
            f"the steps are between {int(lengths.min())} and {int(lengths.max())}."
        )
    _check_plain(where, kind, starts, plain, most)


def _check_plain(
    where: str, kind: Any, starts: Tensor, plain: Tensor, most: int
) -> None:
    other = kind._names[1]
    if not plain.numel():
        return
    least, largest = int(plain.min()), int(plain.max())
    if least < 0 or largest >= most:
        raise ShapeError(
            f"{where}: {other} must be from 0 to {most - 1}, but the smallest is "
            f"{least} and the largest {largest}."
        )
    rises = plain[1:] > plain[:-1]
    inner = starts[1:-1].to(dtypes.int64)
    inner = inner[(inner > 0) & (inner < plain.shape[0])]
    if inner.numel():
        rises[inner - 1] = True  # a new row begins there
    if not bool(rises.all()):
        raise ShapeError(
            f"{where}: {other} must be sorted and different in each row or column; "
            "make a COO tensor of them and convert it with to_sparse_csr()."
        )


def _without_entries(
    where: str, size: Any, dtype: DType | None, device: Any, requires_grad: bool
) -> Tensor:
    shape = _sizes(where, size)
    index = zeros((len(shape), 0), dtype=dtypes.int64)
    values = zeros(0, dtype=dtype, device=device)
    return _finished(CooTensor(index, values, shape), requires_grad)


def _finished(made: SparseTensor, requires_grad: bool) -> Tensor:
    if not requires_grad:
        return made
    made._vals = made._vals.detach()
    return made.requires_grad_()
