# SPDX-License-Identifier: MIT
"""Checkpoints in file objects: `io.BytesIO`, binary files and pipes.

They are read in one piece, from their position to their end.  They are written in one
piece at their position, which is complete before its first byte is written.  So no file
object has to support seeking.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from autocalc._io import digest
from autocalc._io.dtypes import NAMES, read_tensor
from autocalc._io.tree import Array
from autocalc._tensor.checks import short
from autocalc.errors import ArgumentError, CheckpointError, DTypeError


class Stream:
    """An open file, which `save` writes to or `load` reads from."""

    def __init__(self, where: str, file: Any) -> None:
        _check(where, file, "read" if where == "load" else "write")
        self._file = file
        self._content = b""

    def __str__(self) -> str:
        name = getattr(self._file, "name", None)
        return name if isinstance(name, str) else f"the {type(self._file).__name__}"

    @property
    def size(self) -> int:
        """The number of bytes that were read."""
        return len(self._content)

    def check(self) -> None:
        """Read everything; raise if there is nothing."""
        content = self._file.read()
        if content is None:
            raise _blocked()
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise _text(self._file, "rb")
        self._content = bytes(content)
        if not self._content:
            raise CheckpointError(
                f"load: {self} is at its end, so nothing is left to read; go back to "
                "the beginning of the checkpoint with file.seek(0)."
            )

    def head(self) -> bytes:
        """Return the first bytes."""
        return self._content[:16]

    def opened(self) -> IO[bytes]:
        """Return the content as a file."""
        return io.BytesIO(self._content)

    def digests(self) -> digest.Digests | None:
        """Return the digest that the content holds, and the computed one."""
        return digest.digests(io.BytesIO(self._content))

    def read(self) -> tuple[dict[str, Array], dict[str, str]]:
        """Return the arrays and metadata of the content."""
        from safetensors import deserialize

        found = deserialize(self._content)  # type: ignore[no-untyped-call]  # judges
        arrays = {name: _array(part, name, str(self)) for name, part in found}
        (length,) = struct.unpack("<Q", self._content[:8])
        header = json.loads(self._content[8 : 8 + length])
        return arrays, header.get("__metadata__") or {}

    def write(self, arrays: Mapping[str, Array], metadata: dict[str, str]) -> None:
        """Write everything at the position of the file."""
        from safetensors.numpy import save

        sealed = io.BytesIO(save(dict(arrays), metadata=metadata))
        digest.seal(sealed)
        left = sealed.getbuffer()
        while left:  # unbuffered files may take a part
            left = left[self._write(left) :]

    def _write(self, piece: memoryview) -> int:
        try:
            count = self._file.write(piece)
        except TypeError as error:
            raise _text(self._file, "wb") from error
        if count is None and isinstance(self._file, io.RawIOBase):
            raise _blocked()
        return len(piece) if count is None else int(count)


def _array(part: Mapping[str, Any], name: str, place: str) -> Array:
    def make() -> Array:
        dtype = np.dtype(NAMES[part["dtype"]])
        flat = np.frombuffer(part["data"], dtype.newbyteorder("<"))
        array: Array = flat.reshape(part["shape"]).astype(dtype, order="C")
        return array

    return read_tensor(place, name, part["dtype"], make)


def _check(where: str, file: Any, method: str) -> None:
    if not callable(getattr(file, method, None)):
        raise DTypeError(
            f"{where}: `f` is {short(file)}; it must be a path, or an open file with "
            f"the method `{method}`, such as io.BytesIO() or open(path, 'rb')."
        )
    if getattr(file, "closed", False) is True:
        raise ArgumentError(f"{where}: `f`, {short(file)}, is closed; open it again.")
    if isinstance(file, io.TextIOBase):
        raise _text(file, "rb" if where == "load" else "wb")
    if isinstance(file, io.IOBase):
        _check_mode(where, file, method)


def _check_mode(where: str, file: io.IOBase, method: str) -> None:
    if not (file.readable() if method == "read" else file.writable()):
        wanted, mode = ("reading", "rb") if method == "read" else ("writing", "wb")
        raise ArgumentError(
            f"{where}: `f`, {short(file)}, is not open for {wanted}; open it with "
            f"mode {mode!r}."
        )


def _text(file: Any, mode: str) -> DTypeError:
    return DTypeError(
        f"{'load' if mode == 'rb' else 'save'}: `f`, {short(file)}, is a text file, "
        f"but a checkpoint is binary: open the file with mode {mode!r}, or use "
        "io.BytesIO instead of io.StringIO."
    )


def _blocked() -> OSError:
    message = "it is non-blocking and not ready; open it in blocking mode"
    return OSError(message)
