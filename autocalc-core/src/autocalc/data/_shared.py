# SPDX-License-Identifier: MIT
"""Transfer batches between processes, with the arrays in shared memory.

The worker writes all arrays of a batch to a mapped file without a name, and sends the
rest of the batch (some 100 bytes) through a pipe.  The caller copies the arrays out of
the file, which takes 90 µs for 1 MiB.  The file can then be used again: its pages exist
already, and batches that the caller keeps do not keep a file.  A file without a name
cannot outlive its processes, however they end.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
from collections.abc import Sequence
from multiprocessing import reduction
from typing import Any, NamedTuple

import numpy as np

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc.errors import GradError

_ALIGNMENT = 64  # bytes: a cache line
_GROWTH = 1 << 16  # files grow in steps of 64 KiB


class SharedFile:
    """A file without a name that two processes map; it grows when necessary."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):  # Linux: not limited by the size of /dev/shm
            self._handle = os.memfd_create("autocalc-data")
        else:
            with tempfile.TemporaryFile() as file:
                self._handle = os.dup(file.fileno())
        self._map: mmap.mmap | None = None

    def bytes(self, size: int) -> memoryview:
        """Return the file's first `size` bytes."""
        if self._map is None or len(self._map) < size:
            enough = -(-size // _GROWTH) * _GROWTH
            if os.fstat(self._handle).st_size < enough:
                os.truncate(self._handle, enough)
            self._map = mmap.mmap(self._handle, enough)
        return memoryview(self._map)[:size]

    def close(self) -> None:
        """Close the file.  A second call does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle, self._map = -1, None

    def __getstate__(self) -> Any:
        """Return the data by which a newly started process opens the file."""
        return reduction.DupFd(self._handle)

    def __setstate__(self, state: Any) -> None:
        """Open the file in the process that was started."""
        self._handle, self._map = state.detach(), None


class Packed(NamedTuple):
    """A batch without its arrays, and the arrays' positions in the shared file."""

    head: bytes
    places: Sequence[tuple[int, int]]  # (offset, bytes)


class _Pickler(pickle.Pickler):
    """Separates the buffers of arrays, and pickles only the visible part of a tensor.

    By Python's own protocol, pickling one row of a large tensor pickles the whole
    tensor.
    """

    def reducer_override(self, value: Any) -> Any:
        return _reduced(value) if isinstance(value, Tensor) else NotImplemented


def _reduced(tensor: Tensor) -> Any:
    if not tensor.is_leaf:
        raise GradError(
            "DataLoader: a worker process cannot return a tensor with a gradient "
            "history; return `tensor.detach()`, or use worker threads."
        )
    array = np.ascontiguousarray(tensor.detach().numpy()).reshape(tensor.shape)
    return _rebuilt, (array, tensor.requires_grad)


def _rebuilt(array: Any, requires_grad: bool) -> Tensor:
    return from_numpy(array).requires_grad_(requires_grad)


# Data sets that are sent to a new process can hold tensors too.
reduction.ForkingPickler.register(Tensor, _reduced)


def pack(batch: Any, file: SharedFile) -> Packed:
    """Write the arrays of `batch` into `file`; return the rest."""
    buffers: list[pickle.PickleBuffer] = []
    head = io.BytesIO()
    _Pickler(head, protocol=5, buffer_callback=buffers.append).dump(batch)
    raw = [buffer.raw() for buffer in buffers]
    places, end = [], 0
    for part in raw:
        places.append((end, part.nbytes))
        end += -(-part.nbytes // _ALIGNMENT) * _ALIGNMENT
    if end:
        target = file.bytes(end)
        for (start, size), part in zip(places, raw, strict=True):
            target[start : start + size] = part
    return Packed(head.getvalue(), places)


def unpack(packed: Packed, file: SharedFile) -> Any:
    """Return the batch of `pack`, with the arrays copied out of `file`."""
    end = max((start + size for start, size in packed.places), default=0)
    source = np.frombuffer(file.bytes(end), np.uint8) if end else None
    buffers = []
    for start, size in packed.places:
        buffer = arrays.empty((size,), np.dtype(np.uint8))
        if source is not None:
            buffer[...] = source[start : start + size]
        buffers.append(buffer)
    return pickle.loads(packed.head, buffers=buffers)
