# SPDX-License-Identifier: MIT
"""The digest of a checkpoint, which tells whether the file is as it was saved.

It is the SHA-256 of the whole file, as stored on the disk, with the digest itself
blanked (a file object counts from its position).  It covers header length, names,
shapes, metadata and data.  It is part of the safetensors metadata, so other programs
read the file as before.

SHA-256 because CPUs have instructions for it: 1.2 GB/s on one core of a Zen CPU, where
BLAKE2b reaches 0.5 GB/s.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from io import BytesIO, FileIO

#: The metadata's key, and its value until the digest is known.
KEY = "autocalc_sha256"
BLANK = "0" * 64

#: A quote within a JSON text is escaped, so this can only be a key and its value.
_ENTRY = re.compile(rb'"%s"\s*:\s*"([^"\\]{64})"' % KEY.encode())

#: A longer header is no safetensors header.
_MOST_HEADER = 100_000_000
_CHUNK = 1 << 20


class Digests(NamedTuple):
    """The stored digest of a file, and the computed one."""

    stored: str
    actual: str


def seal(file: FileIO | BytesIO) -> None:
    """Write the digest of a file, positioned at its start, over its `BLANK`."""
    head = _head(file)
    found = _ENTRY.search(head)
    assert found is not None, f"no {KEY} in the header that was just written"
    digest = _digest(head, file)
    file.seek(found.start(1))
    file.write(digest.encode())


def digests(file: FileIO | BytesIO) -> Digests | None:
    """Return both digests of a file, read from its start; None if it holds none."""
    head = _head(file)
    found = _ENTRY.search(head)
    if found is None:
        return None
    start, stop = found.span(1)
    blank = head[:start] + BLANK.encode() + head[stop:]
    stored = found[1].decode("ascii", "backslashreplace")
    return Digests(stored, _digest(blank, file))


def _head(file: FileIO | BytesIO) -> bytes:
    """Read length and header; the library judges lengths that cannot be."""
    length = file.read(8)
    size = struct.unpack("<Q", length)[0] if len(length) == 8 else 0
    return length + (file.read(size) if size <= _MOST_HEADER else b"")


def _digest(head: bytes, rest: FileIO | BytesIO) -> str:
    """Return the SHA-256 of a head and of what is left to read, a piece at a time."""
    import hashlib  # 1 ms of `import autocalc`

    digest = hashlib.sha256(head)
    piece = memoryview(bytearray(_CHUNK))
    while count := rest.readinto(piece):
        digest.update(piece[:count])
    return digest.hexdigest()
