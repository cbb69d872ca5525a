# SPDX-License-Identifier: MIT
"""Consecutive records in a file, in the format of TensorFlow (TFRecord).

A record of n bytes is::

    n as 8 bytes | checksum of these 8 bytes | n bytes | checksum of these n bytes

Numbers are little-endian.  The checksum is CRC-32C (polynomial 0x1EDC6F41, reflected),
rotated by 15 bits, plus a constant.  Without these two steps, the checksum of bytes
that contain a checksum would find fewer errors.
"""

from __future__ import annotations

import struct
from functools import lru_cache

_POLYNOMIAL = 0x82F63B78  # 0x1EDC6F41 with reversed bits
_ALL = 0xFFFFFFFF
_MASK = 0xA282EAD8


def _remainder(byte: int) -> int:
    """Return the remainder of a byte divided by the polynomial."""
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_REMAINDERS = [_remainder(byte) for byte in range(256)]


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of bytes."""
    crc = _ALL
    for byte in data:
        crc = crc >> 8 ^ _REMAINDERS[(crc ^ byte) & 0xFF]
    return crc ^ _ALL


def masked_crc(data: bytes) -> int:
    """Return the checksum in the form in which a file stores it."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK) & _ALL


def framed(data: bytes) -> bytes:
    """Return a record in the form in which a file stores it."""
    return b"".join([_header(len(data)), data, struct.pack("<I", masked_crc(data))])


@lru_cache(maxsize=256)
def _header(length: int) -> bytes:
    """Return the bytes before a record; cached, because scalars have few lengths."""
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", masked_crc(packed))
