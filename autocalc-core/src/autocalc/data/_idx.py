# SPDX-License-Identifier: MIT
"""The IDX format: two zero bytes, a type, the dimensions' sizes, then the values.

All numbers are big-endian; files are usually compressed with gzip.  The size of every
file is checked against its header.  A damaged file therefore raises an error and does
not return wrong data.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from autocalc.data._arrays import Array
from autocalc.errors import DataError

_TYPES: dict[int, np.dtype[Any]] = {
    0x08: np.dtype("u1"),
    0x09: np.dtype("i1"),
    0x0B: np.dtype(">i2"),
    0x0C: np.dtype(">i4"),
    0x0D: np.dtype(">f4"),
    0x0E: np.dtype(">f8"),
}
# Deflate packs fewer than 1,033 bytes into one.
_BEST_RATIO = 1032
_GZIP_MAGIC = b"\x1f\x8b"


class _Stream(Protocol):
    """The methods of a binary file that are used, compressed or not."""

    def read(self, size: int, /) -> bytes: ...
    def readinto(self, buffer: Any, /) -> int: ...


def read_idx(path: str | os.PathLike[str]) -> Array:
    """Read the array in an IDX file; the file can be compressed with gzip.

    Parameters
    ----------
    path : str or path
        The path of the file.

    Returns
    -------
    numpy.ndarray
        The array, in the byte order of this machine.

    Raises
    ------
    DataError
        If the file is not an IDX file, or if it is too short, too long or damaged.

    Examples
    --------
    >>> import autocalc as ac
    >>> import pathlib
    >>> import tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "numbers.idx")
    >>> _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    >>> ac.data.read_idx(path)
    array([7, 8, 9], dtype=uint8)
    """
    import gzip  # imported only if a file is read
    import zlib

    path = Path(path)
    with path.open("rb") as file:
        packed = file.peek(2)[:2] == _GZIP_MAGIC
        try:
            return _read(gzip.GzipFile(fileobj=file) if packed else file, path)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise _damaged(path, f"its gzip data are damaged ({error})") from error


def _read(stream: _Stream, path: Path) -> Array:
    dtype, shape = _read_header(stream, path)
    expected = math.prod(shape) * dtype.itemsize
    # A damaged header can claim any size; only possible sizes get memory.
    if expected > path.stat().st_size * _BEST_RATIO:
        raise _damaged(path, f"it is too small for the {expected} bytes of {shape}")
    values = np.empty(expected, np.uint8)
    filled = _fill(values, stream)
    if filled < expected:
        problem = f"it ends after {filled} of the {expected} bytes of {shape}"
        raise _damaged(path, problem)
    if stream.read(1):
        raise _damaged(path, f"it goes on after the {expected} bytes of {shape}")
    try:
        array = values.view(dtype).reshape(shape)
    except ValueError as error:
        raise _damaged(
            path, (f"NumPy cannot make an array of {shape}: {error}")
        ) from error
    return array.astype(dtype.newbyteorder("="), copy=False)


def _fill(values: Array, stream: _Stream) -> int:
    """Read until `values` is full or the stream ends; return the number of bytes."""
    rest, filled = memoryview(values.data), 0
    while filled < len(values) and (count := stream.readinto(rest[filled:])):
        filled += count
    return filled


def _read_header(stream: _Stream, path: Path) -> tuple[np.dtype[Any], tuple[int, ...]]:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _TYPES or not magic[3]:
        raise _damaged(
            path,
            f"it begins with bytes {magic.hex(' ') or '(none)'}; IDX begins with "
            f"00 00, a type of {', '.join(f'{t:02x}' for t in _TYPES)}, and the number "
            f"of dimensions",
        )
    sizes = stream.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise _damaged(path, f"it ends inside the sizes of its {magic[3]} dimensions")
    shape = tuple(int(size) for size in np.frombuffer(sizes, ">u4"))
    return _TYPES[magic[2]], shape


def _damaged(path: Path, problem: str) -> DataError:
    message = (
        f"read_idx: {path} is not a complete IDX file: {problem}. Download it again."
    )
    return DataError(message)
