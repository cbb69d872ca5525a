# SPDX-License-Identifier: MIT
"""Operators that split a tensor into parts, all of them views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from autocalc._ops._operator.arguments import as_int, axis_of, check_tensor, integers
from autocalc._ops._operator.method import method
from autocalc._ops._operator.numpy_names import dim_or_axis
from autocalc._ops._operator.out import spoken
from autocalc._ops._operator.traced import traced
from autocalc._ops.views import slicing
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError

Parts = tuple[Tensor, ...]


def _with_dim(where: str, input: Tensor, dim: int) -> tuple[int, int]:
    """Return `dim`, counted from the left, and its size; raise for a 0-d tensor."""
    x = input if input.__class__ is Tensor else check_tensor(where, input)
    sizes = x._array.shape
    ndim = len(sizes)
    if dim.__class__ is int and 0 <= dim < ndim:
        return dim, sizes[dim]
    if ndim == 0:
        message = f"{where}: a tensor without dimensions has no parts; use item()."
        raise DimensionError(message)
    axis = axis_of(where, dim, ndim)
    return axis, sizes[axis]


@method("select")
@traced(light=True, declares=False)
def select(
    input: Tensor, dim: int | None = None, index: int | None = None, *, axis: Any = None
) -> Tensor:
    """Return a view of slice `index` along `dim`, without that dimension.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    index
        The index along `dim`; negative ones count from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    DimensionError
        If `index` is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.select(ac.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([3, 4])
    """
    if axis is not None or dim is None:
        dim = dim_or_axis("select", dim, axis)
    axis, n = _with_dim("select", input, dim)
    i = index if index.__class__ is int else as_int("select", "index", index)
    if not -n <= i < n:
        raise DimensionError(
            f"select: `index`={i} is out of range for dimension {axis} of size {n} in "
            f"shape {input.shape}."
        )
    return slicing.slices(input, axis, (i,))[0]


@method("narrow")
@traced(light=True, declares=False)
def narrow(
    input: Tensor,
    dim: int | None = None,
    start: int | Tensor | None = None,
    length: int | None = None,
    *,
    axis: Any = None,
) -> Tensor:
    """Return a view of `length` slices along `dim`, from index `start` on.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    start
        The first index.
    length
        The number of elements to keep.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    DimensionError
        If the slices extend beyond the dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.narrow(ac.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    if axis is not None or dim is None:
        dim = dim_or_axis("narrow", dim, axis)
    axis, n = _with_dim("narrow", input, dim)
    first, count = as_int("narrow", "start", start), as_int("narrow", "length", length)
    begin = first + n if first < 0 else first
    if not 0 <= begin <= n or not 0 <= count <= n - begin:
        raise DimensionError(
            f"narrow: {count} slices from index {first} on extend beyond dimension "
            f"{axis} of size {n} in shape {input.shape}."
        )
    return slicing.slices(input, axis, (slice(begin, begin + count),))[0]


@method("split_with_sizes")
def split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0, *, axis: Any = None
) -> Parts:
    """Return views of the given sizes along `dim`; the sum must be the size of `dim`.

    Parameters
    ----------
    input
        The input tensor.
    split_sizes
        The sizes of the parts.
    dim
        The dimension; a negative one counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.split_with_sizes(ac.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    if axis is not None:
        dim = dim_or_axis("split_with_sizes", dim, axis, 0)
    return _of_sizes("split_with_sizes", input, split_sizes, dim)


def _of_sizes(where: str, input: Tensor, sizes: Sequence[int], dim: int) -> Parts:
    axis, n = _with_dim(where, input, dim)
    counts = integers(where, "sizes", sizes)
    if min(counts, default=0) < 0 or sum(counts) != n:
        raise ShapeError(
            f"{where}: the sizes {counts} along dimension {axis} of shape "
            f"{input.shape}; none may be negative, and their sum must be {n}."
        )
    ends = list(accumulate(counts, initial=0))
    return slicing.slices(input, axis, list(map(slice, ends, ends[1:])))


@traced(light=True)
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> Parts:
    """Return the parts of a tensor along `dim`, as views.

    If one size is given for all parts, the last part may be smaller.

    Parameters
    ----------
    tensor
        The tensor to split.
    split_size_or_sections
        The size of each part, or a list with the sizes of all parts.
    dim
        The dimension; a negative one counts from the end.

    Raises
    ------
    ArgumentError
        If the size is given as one number and is not positive.

    Examples
    --------
    >>> import autocalc as ac
    >>> [part.tolist() for part in ac.split(ac.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    >>> [part.tolist() for part in ac.split(ac.arange(5), [4, 1])]
    [[0, 1, 2, 3], [4]]
    """
    if isinstance(split_size_or_sections, (list, tuple)):
        return _of_sizes("split", tensor, split_size_or_sections, dim)
    axis, n = _with_dim("split", tensor, dim)
    size = as_int("split", "split_size", split_size_or_sections)
    if size < 0 or (size == 0 and n > 0):
        raise ArgumentError(
            f"split: `split_size_or_sections` is {size} for dimension {axis} of size "
            f"{n}; it must be above 0."
        )
    return _of_size(tensor, axis, n, size)


def _of_size(x: Tensor, axis: int, n: int, size: int) -> Parts:
    starts = range(0, n, size) if n else (0,)
    return slicing.slices(x, axis, [slice(i, min(i + size, n)) for i in starts])


@method("chunk")
@traced(light=True, declares=False)
def chunk(input: Tensor, chunks: int, dim: int = 0, *, axis: Any = None) -> Parts:
    """Return at most `chunks` views along `dim`, of equal size except for the last.

    Parameters
    ----------
    input
        The input tensor.
    chunks
        The largest number of parts.
    dim
        The dimension; a negative one counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If `chunks` is below 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.chunk(ac.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if axis is not None:
        dim = dim_or_axis("chunk", dim, axis, 0)
    axis, n = _with_dim("chunk", input, dim)
    count = as_int("chunk", "chunks", chunks)
    if count < 1:
        raise ArgumentError(
            f"chunk expects `chunks` to be greater than 0, got: {count}."
        )
    if n == 0:
        return slicing.slices(input, axis, [slice(0, 0)] * count)
    return _of_size(input, axis, n, -(-n // count))


@method("unbind")
@traced(light=True, declares=False)
def unbind(input: Tensor, dim: int = 0, *, axis: Any = None) -> Parts:
    """Return a view of each slice along `dim`, without that dimension.

    Parameters
    ----------
    input
        The input tensor.
    dim
        The dimension; a negative one counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unbind(ac.tensor([[1, 2], [3, 4]]))
    (tensor([1, 2]), tensor([3, 4]))
    """
    if axis is not None:
        dim = dim_or_axis("unbind", dim, axis, 0)
    axis, n = _with_dim("unbind", input, dim)
    return slicing.slices(input, axis, range(n))


def _read(where: str, parts: Any) -> Any:
    """Return the value of an int64 tensor with at most one dimension."""
    if not isinstance(parts, Tensor):
        return parts
    if parts.ndim > 1:
        raise DTypeError(
            f"{where} expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {parts.ndim} dims."
        )
    if parts.dtype is not dtypes.int64:
        raise DTypeError(
            f"{where} expected tensor_indices_or_sections to have dtype of long, but "
            f"got {spoken(parts.dtype)}. Convert it with .long()."
        )
    return parts.tolist()


@method("tensor_split")
@traced(light=True, declares=False)
def tensor_split(
    input: Tensor,
    indices_or_sections: int | Sequence[int] | Tensor,
    dim: int = 0,
    *,
    axis: Any = None,
) -> Parts:
    """Return `input` split along `dim` into n views, or at given indices.

    If the size of `dim` is not a multiple of n, the first views are larger by one.

    Parameters
    ----------
    input
        The input tensor.
    indices_or_sections
        The number n of parts, or the indices before which the tensor is split. Either
        one may be a tensor of int64.
    dim
        The dimension; a negative one counts from the end.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Raises
    ------
    ArgumentError
        If the number of parts is below 1.
    DTypeError
        If a tensor of indices is not of int64, or is not a vector.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor_split(ac.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if axis is not None:
        dim = dim_or_axis("tensor_split", dim, axis, 0)
    if not check_tensor("tensor_split", input).ndim:
        raise ShapeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor "
            "with 0 dims; give it a dimension with reshape(1)."
        )
    axis, n = _with_dim("tensor_split", input, dim)
    indices_or_sections = _read("tensor_split", indices_or_sections)
    if isinstance(indices_or_sections, (list, tuple)):
        cuts = [as_int("tensor_split", "indices", i) for i in indices_or_sections]
        bounds = [0, *(slice(None, i).indices(n)[1] for i in cuts), n]
        parts = [slice(a, max(a, b)) for a, b in pairwise(bounds)]
        return slicing.slices(input, axis, parts)
    count = as_int("tensor_split", "sections", indices_or_sections)
    if count < 1:
        raise ArgumentError(
            f"tensor_split: number of sections must be larger than 0, got {count}."
        )
    size, extra = divmod(n, count)
    return _of_sizes(
        "tensor_split", input, [size + (i < extra) for i in range(count)], axis
    )


def _split_evenly(
    where: str, input: Tensor, parts: int | Sequence[int], axis: int, least: int
) -> Parts:
    if check_tensor(where, input).ndim < least:
        raise DimensionError(
            f"torch.{where} requires a tensor with at least {least} "
            f"dimension{'s' * (least > 1)}; the tensor has shape {input.shape}."
        )
    n = input.shape[axis]
    if isinstance(parts, int) and (parts < 1 or n % parts):
        raise ArgumentError(
            f"torch.{where} attempted to split along dimension {axis}, but the size of "
            f"the dimension {n} is not divisible by the split_size {parts}; the shape "
            f"is {input.shape}."
        )
    return tensor_split(input, parts, axis)


@method("hsplit")
def hsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> Parts:
    """Split `input` along its second or only dimension; see `tensor_split`.

    Parameters
    ----------
    input
        The input tensor.
    indices_or_sections
        The number of parts, or the indices before which the tensor is split.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.hsplit(ac.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    axis = 0 if check_tensor("hsplit", input).ndim == 1 else 1
    return _split_evenly("hsplit", input, indices_or_sections, axis, 1)


@method("vsplit")
def vsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> Parts:
    """Split `input` along its first dimension; see `tensor_split`.

    Parameters
    ----------
    input
        The input tensor, with at least two dimensions.
    indices_or_sections
        The number of parts, or the indices before which the tensor is split.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.vsplit(ac.tensor([[1, 2], [3, 4]]), 2)
    (tensor([[1, 2]]), tensor([[3, 4]]))
    """
    return _split_evenly("vsplit", input, indices_or_sections, 0, 2)


@method("dsplit")
def dsplit(input: Tensor, indices_or_sections: int | Sequence[int]) -> Parts:
    """Split `input` along its third dimension; see `tensor_split`.

    Parameters
    ----------
    input
        The input tensor, with at least three dimensions.
    indices_or_sections
        The number of parts, or the indices before which the tensor is split.

    Examples
    --------
    >>> import autocalc as ac
    >>> [part.shape for part in ac.dsplit(ac.ones(1, 2, 4), 2)]
    [autocalc.Size([1, 2, 2]), autocalc.Size([1, 2, 2])]
    """
    return _split_evenly("dsplit", input, indices_or_sections, 2, 3)


@method("split")
def _split_method(
    self: Tensor, split_size: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Split the tensor along `dim` into views of one size, or of the given sizes.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1, 2, 3, 4, 5]).split(2)
    (tensor([1, 2]), tensor([3, 4]), tensor([5]))
    """
    return split(self, split_size, dim)


@method("unsafe_split")
def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> Parts:
    """Return the same views as `split`; they may be written into.

    Parameters
    ----------
    input
        The tensor to split.
    split_size
        The size of each part; the last one may be smaller.
    dim
        The dimension; a negative one counts from the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unsafe_split(ac.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return split(input, split_size, dim)


@method("unsafe_split_with_sizes")
def unsafe_split_with_sizes(
    input: Tensor, split_sizes: Sequence[int], dim: int = 0
) -> Parts:
    """Return the same views as `split_with_sizes`; they may be written into.

    Parameters
    ----------
    input
        The tensor to split.
    split_sizes
        The sizes of the parts; their sum must be the size of `dim`.
    dim
        The dimension; a negative one counts from the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unsafe_split_with_sizes(ac.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    return split_with_sizes(input, split_sizes, dim)


@method("unsafe_chunk")
def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> Parts:
    """Return the same views as `chunk`; they may be written into.

    Parameters
    ----------
    input
        The tensor to split.
    chunks
        The largest number of parts.
    dim
        The dimension; a negative one counts from the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.unsafe_chunk(ac.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return chunk(input, chunks, dim)
