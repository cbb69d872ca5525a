# SPDX-License-Identifier: MIT
"""The digest of a checkpoint, which detects whether the file has changed.

It is the SHA-256 of the whole file as stored on disk, with the digest itself blanked.
For a file object the file begins at its position.  The digest covers the header length,
names, shapes, metadata and data.  It is part of the safetensors metadata, so other
programs can still read the file.

SHA-256 was chosen because CPUs have instructions for it: one core of a Zen CPU reaches
1.2 GB/s, and with BLAKE2b 0.5 GB/s.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from io import BytesIO, FileIO

#: The key in the metadata, and its value until the digest is known.
KEY = "autocalc_sha256"
BLANK = "0" * 64

#: Quotes inside of JSON strings are escaped, so this can only be a key with its value.
_ENTRY = re.compile(rb'"%s"\s*:\s*"([^"\\]{64})"' % KEY.encode())

#: A longer header is not a safetensors header.
_MOST_HEADER = 100_000_000
_CHUNK = 1 << 20


class Digests(NamedTuple):
    """The stored digest of a file and its computed digest."""

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
    """Return both digests of a file, read from its start; None without a digest."""
    head = _head(file)
    found = _ENTRY.search(head)
    if found is None:
        return None
    start, stop = found.span(1)
    blank = head[:start] + BLANK.encode() + head[stop:]
    stored = found[1].decode("ascii", "backslashreplace")
    return Digests(stored, _digest(blank, file))


def _head(file: FileIO | BytesIO) -> bytes:
    """Read length and header; the library reports invalid lengths."""
    length = file.read(8)
    size = struct.unpack("<Q", length)[0] if len(length) == 8 else 0
    return length + (file.read(size) if size <= _MOST_HEADER else b"")


def _digest(head: bytes, rest: FileIO | BytesIO) -> str:
    """Return the SHA-256 of a head and the rest of the file, read in pieces."""
    import hashlib  # 1 ms of `import autocalc`

    digest = hashlib.sha256(head)
    piece = memoryview(bytearray(_CHUNK))
    while count := rest.readinto(piece):
        digest.update(piece[:count])
    return digest.hexdigest()
