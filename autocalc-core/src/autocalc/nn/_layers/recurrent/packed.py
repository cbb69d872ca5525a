# SPDX-License-Identifier: MIT
"""Sequences of different lengths in one batch.

Padded sequences are ``[T, B, ...]`` with padding after the shorter ones. Packed
sequences are ``[N, ...]``, with the longest sequence first: the first elements of all
sequences, then the second ones, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_shape
from autocalc._ops.arranging import joining
from autocalc._ops.creation.constants import full
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.indexing import indexing
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import FLAG, check_flag, one_of
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, ShapeError


class PackedSequence(NamedTuple):
    """Sequences of different lengths without padding.

    `pack_padded_sequence` and `pack_sequence` make it.

    Attributes
    ----------
    data
        The elements, of shape (N, ...), where N is the sum of the lengths.  First come
        the first elements of all sequences, then the second elements, and so on.
    batch_sizes
        Element t is the number of sequences that have more than t elements.  The dtype
        is int64.
    sorted_indices, unsorted_indices
        The permutation that sorts the sequences by length, longest first, and its
        inverse.  Both are None if the sequences were already sorted in this way.

    Examples
    --------
    >>> import autocalc as ac
    >>> packed = ac.nn.utils.rnn.pack_sequence([ac.tensor([1, 2, 3]), ac.tensor([4])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return a copy whose elements are converted or moved as by `Tensor.to`.

        If the elements stay as they are, the sequence itself is returned.

        Examples
        --------
        >>> import autocalc as ac
        >>> packed = ac.nn.utils.rnn.pack_sequence([ac.tensor([1.0, 2.0])])
        >>> packed.to(ac.float64).data
        tensor([1., 2.], dtype=autocalc.float64)
        """
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replace(data=data)

    def cpu(self) -> PackedSequence:
        """Return a copy on the CPU."""
        return self.to("cpu")

    def byte(self) -> PackedSequence:
        """Return a copy with uint8 elements."""
        return self.to(dtypes.uint8)

    def char(self) -> PackedSequence:
        """Return a copy with int8 elements."""
        return self.to(dtypes.int8)

    def short(self) -> PackedSequence:
        """Return a copy with int16 elements."""
        return self.to(dtypes.int16)

    def half(self) -> PackedSequence:
        """Return a copy with float16 elements."""
        return self.to(dtypes.float16)

    def float(self) -> PackedSequence:
        """Return a copy with float32 elements."""
        return self.to(dtypes.float32)

    def double(self) -> PackedSequence:
        """Return a copy with float64 elements."""
        return self.to(dtypes.float64)

    def int(self) -> PackedSequence:
        """Return a copy with int32 elements."""
        return self.to(dtypes.int32)

    def long(self) -> PackedSequence:
        """Return a copy with int64 elements."""
        return self.to(dtypes.int64)

    def pin_memory(self) -> PackedSequence:
        """Return a copy in pinned memory if there is an accelerator."""
        return self._replace(data=self.data.pin_memory())

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on the device ``"cuda"``."""
        return self.data.is_cuda


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Pad sequences to the length of the longest one and stack them into one tensor.

    Parameters
    ----------
    sequences
        At least one tensor of shape (length, ...).  Only the lengths may differ.
    batch_first
        True for a result of shape (B, T, ...), False for (T, B, ...).
    padding_value
        The value of the padding elements.
    padding_side
        The end of the sequence that is padded: ``"right"`` or ``"left"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b = ac.tensor([1, 2, 3]), ac.tensor([4])
    >>> ac.nn.utils.rnn.pad_sequence([a, b], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if batch_first.__class__ is not FLAG:
        batch_first = check_flag("pad_sequence", "batch_first", batch_first)
    where = "pad_sequence"
    one_of(where, "padding_side", padding_side, ("right", "left"))
    if not isinstance(sequences, Iterable):
        raise ArgumentError(
            f"{where}: Expected iterable for input sequences, but got arg of type "
            f"{type(sequences).__name__}."
        )
    each = [check_tensor(where, x) for x in sequences]
    rests = {x.shape[1:] for x in each if x.ndim}
    if len(rests) != 1 or not all(x.ndim for x in each):
        shapes = ", ".join(str(x._array.shape) for x in each) or "none"
        raise ShapeError(
            f"{where}: the sequences have shapes {shapes}; give at least one sequence; "
            "all must be (length, ...) with the same sizes after the first."
        )
    length = max(x.shape[0] for x in each)
    rows = []
    for x in each:
        padding = full(
            (length - x.shape[0], *x.shape[1:]),
            padding_value,
            dtype=x.dtype,
            device=place_of_tensor(x),
        )
        rows.append(
            joining.cat([x, padding] if padding_side == "right" else [padding, x], 0)
        )
    return joining.stack(rows, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """Return the sequences of a padded tensor, without the padding.

    Parameters
    ----------
    padded_sequences
        A tensor of shape (T, B, ...), or (B, T, ...) with `batch_first`.
    lengths
        The length of each sequence, of shape (B,), with an integer dtype.
    batch_first
        True if the first dimension of `padded_sequences` is the batch.

    Examples
    --------
    >>> import autocalc as ac
    >>> padded = ac.tensor([[1, 2, 3], [4, 0, 0]])
    >>> ac.nn.utils.rnn.unpad_sequence(padded, ac.tensor([3, 1]), batch_first=True)
    [tensor([1, 2, 3]), tensor([4])]
    """
    if batch_first.__class__ is not FLAG:
        batch_first = check_flag("unpad_sequence", "batch_first", batch_first)
    x = padded_sequences
    counts = lengths.tolist()
    if batch_first:
        return [x[b, :n] for b, n in enumerate(counts)]
    return [x[:n, b] for b, n in enumerate(counts)]


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Pack padded sequences, so that a recurrent network skips the padding.

    Parameters
    ----------
    input
        A tensor of shape (T, B, ...), or (B, T, ...) with `batch_first`.
    lengths
        The length of each sequence: B integers from 1 to T.
    batch_first
        True if the first dimension of `input` is the batch.
    enforce_sorted
        True if the sequences are already sorted by length, longest first.  If False,
        they are sorted here, and a recurrent network returns its results in the
        original order.

    Raises
    ------
    ArgumentError
        If a length is out of range, or if `enforce_sorted` is True and the lengths are
        not sorted.

    Examples
    --------
    >>> import autocalc as ac
    >>> padded = ac.tensor([[1, 2, 3], [4, 0, 0]])
    >>> packed = ac.nn.utils.rnn.pack_padded_sequence(padded, [3, 1], batch_first=True)
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """
    if batch_first.__class__ is not FLAG:
        batch_first = check_flag("pack_padded_sequence", "batch_first", batch_first)
    if enforce_sorted.__class__ is not FLAG:
        enforce_sorted = check_flag(
            "pack_padded_sequence", "enforce_sorted", enforce_sorted
        )
    where = "pack_padded_sequence"
    x = check_tensor(where, input)
    counts = [int(n) for n in lengths]
    if not x.numel():
        raise ShapeError(
            f"{where}: `input` has shape {x.shape}; an empty tensor cannot be packed."
        )
    check_shape(where, "input", x, "(T, B, ...)")
    batch, steps = x.shape[:2] if batch_first else (x.shape[1], x.shape[0])
    if len(counts) != batch or not all(0 < n <= steps for n in counts):
        raise ArgumentError(
            f"{where}: `lengths` are {counts} for {batch} sequences of {steps} steps; "
            f"there must be one for each sequence, between 1 and {steps}."
        )
    order = sorted(range(batch), key=lambda b: -counts[b])
    if enforce_sorted and order != list(range(batch)):
        raise ArgumentError(
            f"{where}: `lengths` must be sorted in decreasing order, but they are "
            f"{counts}. You can pass `enforce_sorted=False`, or sort them."
        )
    sizes = [sum(n > t for n in counts) for t in range(max(counts, default=0))]
    # The position of each element in the padded rows.
    across, down = (steps, 1) if batch_first else (1, batch)
    places = [
        order[i] * across + t * down for t, n in enumerate(sizes) for i in range(n)
    ]
    rows = view.reshape(x, (batch * steps, *x.shape[2:]))
    data = indexing.index_select(rows, 0, _numbers(places))
    if enforce_sorted:
        return PackedSequence(data, _numbers(sizes))
    back = sorted(range(batch), key=lambda i: order[i])
    return PackedSequence(data, _numbers(sizes), _numbers(order), _numbers(back))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Undo `pack_padded_sequence`: return padded sequences and their lengths.

    The sequences are in their original order.

    Parameters
    ----------
    sequence
        The packed sequence, as returned by `pack_padded_sequence` or a recurrent
        network.
    batch_first
        True for a result of shape (B, T, ...), False for (T, B, ...).
    padding_value
        The value of the padding elements.
    total_length
        The length T of the result.  None means the length of the longest sequence.

    Raises
    ------
    ArgumentError
        If `total_length` is less than the length of the longest sequence.

    Examples
    --------
    >>> import autocalc as ac
    >>> packed = ac.nn.utils.rnn.pack_sequence([ac.tensor([1, 2]), ac.tensor([3])])
    >>> ac.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    if batch_first.__class__ is not FLAG:
        batch_first = check_flag("pad_packed_sequence", "batch_first", batch_first)
    sizes = sequence.batch_sizes.tolist()
    steps, batch = len(sizes), sizes[0]
    if total_length is not None and total_length < steps:
        raise ArgumentError(
            "pad_packed_sequence: Expected total_length to be at least the length of "
            f"the longest sequence in input, {steps}, but it is {total_length}."
        )
    steps = steps if total_length is None else total_length
    order = range(batch)
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices.tolist()
    data = sequence.data
    starts = [sum(sizes[:t]) for t in range(len(sizes))]
    # Each position takes an element, or the padding that comes after the last element.
    places = [
        starts[t] + i if t < len(sizes) and i < sizes[t] else data.shape[0]
        for t, i in _walk(steps, order, batch_first)
    ]
    padding = full(
        (1, *data.shape[1:]),
        padding_value,
        dtype=data.dtype,
        device=place_of_tensor(data),
    )
    rows = joining.cat([data, padding], 0)
    out = indexing.index_select(rows, 0, _numbers(places))
    shape = (batch, steps) if batch_first else (steps, batch)
    lengths = [sum(n > i for n in sizes) for i in order]
    return view.reshape(out, (*shape, *data.shape[1:])), _numbers(lengths)


def _walk(steps: int, order: Sequence[int], batch_first: bool) -> list[tuple[int, int]]:
    """Yield (step, index in the packed order) for each position of the padded rows."""
    if batch_first:
        return [(t, i) for i in order for t in range(steps)]
    return [(t, i) for t in range(steps) for i in order]


def pack_sequence(
    sequences: Sequence[Tensor], enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a list of sequences of different lengths.

    Parameters
    ----------
    sequences
        Tensors of shape (length, ...).  Only the lengths may differ.
    enforce_sorted
        The same as for `pack_padded_sequence`.

    Examples
    --------
    >>> import autocalc as ac
    >>> short, long = ac.tensor([4]), ac.tensor([1, 2, 3])
    >>> packed = ac.nn.utils.rnn.pack_sequence([short, long], enforce_sorted=False)
    >>> packed.data, packed.sorted_indices
    (tensor([1, 4, 2, 3]), tensor([1, 0]))
    """
    if enforce_sorted.__class__ is not FLAG:
        enforce_sorted = check_flag("pack_sequence", "enforce_sorted", enforce_sorted)
    lengths = [x.shape[0] for x in sequences]
    return pack_padded_sequence(
        pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted
    )


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a `PackedSequence` as a list of tensors.

    Examples
    --------
    >>> import autocalc as ac
    >>> packed = ac.nn.utils.rnn.pack_sequence([ac.tensor([1, 2, 3]), ac.tensor([4])])
    >>> ac.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2, 3]), tensor([4])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def _numbers(values: Sequence[int]) -> Tensor:
    return tensor(list(values), dtype=dtypes.int64)
