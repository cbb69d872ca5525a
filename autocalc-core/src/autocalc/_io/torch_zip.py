# SPDX-License-Identifier: MIT
"""`torch.save` files: a zip archive of records and storages."""

from __future__ import annotations

import struct
import zipfile
from math import prod
from typing import IO, Any

import numpy as np

from autocalc._io.torch_marks import OLD
from autocalc._io.torch_records import RecordError, Records, Storage
from autocalc._io.tree import Array, loaded
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc.errors import CheckpointError

#: The errors that records and the library raise for bytes that are no archive of
#: tensors: names that are no strings, negative sizes, truncated fields.
_DAMAGED = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, struct.error, EOFError, MemoryError),
    *(ValueError, LookupError, TypeError, NotImplementedError, OverflowError),
)

#: The largest number of dimensions of a tensor, which is also NumPy's limit.
_MOST_ELEMENTS = 2**62
_MOST_DIMENSIONS = 32


#: The order of bytes in files without a record of it, which PyTorch wrote before 2.1.
ORDERS = {"no record": "<"}


def read_torch(file: IO[bytes], place: str, device: Device | None = None) -> Any:
    """Return the value of a `torch.save` file; errors refer to it as `place`.

    The tensors are on `device`; None means the CPU.
    """
    try:
        if file.read(len(OLD)) == OLD:
            raise RecordError(
                "it has the format before version 1.6 of PyTorch, a plain pickle; save "
                "it again there"
            )
        with zipfile.ZipFile(file) as archive:
            return _Archive(archive, device).value()
    except _DAMAGED as error:
        raise CheckpointError(
            f"load: {place} looks like a file of torch.save and is not read: {error}. "
            "In PyTorch, save only tensors, with torch.save(model.state_dict(), path) "
            "or safetensors.torch.save_file(model.state_dict(), path)."
        ) from error


class _Archive:
    """An open archive; none of its names is used as a path."""

    def __init__(self, archive: zipfile.ZipFile, device: Device | None) -> None:
        self._archive = archive
        self._device = device
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in archive.infolist():
            if entry.filename in self._entries:
                raise RecordError(f"it has two entries {entry.filename!r}")
            self._entries[entry.filename] = entry
        self._root = self._find_root()
        self._storages: dict[str, tuple[Any, Array]] = {}
        self._order = ORDERS["no record"]
        if "byteorder" in self:
            big = self._content("byteorder").strip() == b"big"
            self._order = ">" if big else "<"

    def __contains__(self, name: str) -> bool:
        return self._root + name in self._entries

    def _find_root(self) -> str:
        """Return the folder of the records, with its slash."""
        found = [n for n in self._entries if n.rpartition("/")[2] == "data.pkl"]
        if len(found) != 1:
            raise RecordError(
                f"it is a zip archive with {len(found)} entries that are named data.pkl"
            )
        root = found[0].removesuffix("data.pkl")
        if f"{root}constants.pkl" in self._entries:
            raise RecordError("it is a program of torch.jit")
        return root

    def _content(self, name: str) -> bytes:
        """Return an entry, which must be complete and not compressed."""
        entry = self._entries.get(self._root + name)
        if entry is None:
            raise RecordError(f"its entry {name!r} is missing")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            message = f"its entry {name!r} is compressed, which torch.save never does"
            raise RecordError(message)
        if entry.file_size != entry.compress_size:
            raise RecordError(f"its entry {name!r} has two sizes")
        content = self._archive.read(entry)
        if len(content) != entry.file_size:
            raise RecordError(f"its entry {name!r} is cut short")
        return content

    def value(self) -> Any:
        """Return the value that the records describe."""
        return Records(self._tensor).read(self._content("data.pkl"))

    def _storage(self, storage: Storage) -> Array:
        """Return the elements of a storage; each storage is read only once."""
        known = self._storages.get(storage.key)
        if known is not None:
            if known[0] is not storage.dtype or known[1].size != storage.size:
                message = f"its storage {storage.key!r} is described in two ways"
                raise RecordError(message)
            return known[1]
        content = self._content(f"data/{storage.key}")
        wanted = storage.size * storage.dtype.itemsize
        if len(content) != wanted:
            raise RecordError(
                f"its storage {storage.key!r} has {len(content)} bytes where the "
                f"records say {wanted}"
            )
        dtype = storage.dtype.numpy
        given: Array = np.frombuffer(content, np.uint8)
        if storage.dtype.category == 0 and (given > 1).any():
            message = f"its storage {storage.key!r} has booleans that are not 0 or 1"
            raise RecordError(message)
        array: Array = given.view(dtype).copy()
        if self._order != "<" and dtype.itemsize > 1:
            array = array.byteswap()
        self._storages[storage.key] = storage.dtype, array
        return array

    def _tensor(
        self, storage: Storage, offset: Any, size: Any, stride: Any, requires_grad: bool
    ) -> Tensor:
        array = self._storage(storage)
        _check_sizes(offset, size, stride)
        shape, steps = tuple(size), tuple(stride)
        reach = offset + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
        if prod(shape) and reach >= array.size:
            message = f"a tensor of shape {shape} reaches over the end of its storage"
            raise RecordError(message)
        given: Array
        if not prod(shape):
            given = np.empty(shape, array.dtype)
        else:
            inner = [s * array.itemsize for s in steps]
            start = offset * array.itemsize
            given = np.ndarray(shape, array.dtype, array, start, inner)
        return loaded(given, self._device, requires_grad)


def _check_sizes(offset: Any, size: Any, stride: Any) -> None:
    """Raise unless the position of a tensor is given by numbers of 0 or more."""
    if not (isinstance(size, tuple) and isinstance(stride, tuple)):
        raise RecordError("a tensor has no shape")
    numbers = (offset, *size, *stride)
    whole = all(type(n) is int and n >= 0 for n in numbers)
    fits = whole and prod(size) <= _MOST_ELEMENTS
    if not fits or len(size) != len(stride) or len(size) > _MOST_DIMENSIONS:
        raise RecordError("a tensor has a shape or strides that no tensor can have")
