# SPDX-License-Identifier: MIT
"""TensorBoard's events as protocol buffers (proto3), written by hand.

What is used of tensorboard/compat/proto, each field with its number::

    Event            wall_time=1 double  step=2 int64  file_version=3 string
                     summary=5 Summary   session_log=7 SessionLog
    Summary          value=1 Value, repeated
    Value            tag=1 string  simple_value=2 float  histo=5 HistogramProto
                     tensor=8 TensorProto  metadata=9 SummaryMetadata
    HistogramProto   min=1  max=2  num=3  sum=4  sum_squares=5 double
                     bucket_limit=6  bucket=7 double, packed
    TensorProto      dtype=1 enum  tensor_shape=2 TensorShapeProto  string_val=8 bytes
    SummaryMetadata  plugin_data=1 {plugin_name=1 string}
    SessionLog       status=1 enum, START 1
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

#: How the bytes after a field's number are to be read.
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5

_STRING = 7  # DT_STRING of TensorProto
_START = 1


class Histogram(NamedTuple):
    """Counts of elements: `counts[i]` are at most `limits[i]`, above the one before."""

    least: float
    largest: float
    elements: int
    total: float
    squares: float
    limits: Sequence[float]
    counts: Sequence[float]


def _varint(value: int) -> bytes:
    """Return an integer in groups of 7 bits, the low ones first."""
    value &= 0xFFFFFFFFFFFFFFFF  # a negative one in two's complement
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | _DOUBLE) + struct.pack("<d", value)


def _float(number: int, value: float) -> bytes:
    return _varint(number << 3 | _FLOAT) + as_float32(value)


def as_float32(value: float) -> bytes:
    """Return the bytes of the nearest float32; what is too large is infinite."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _doubles(number: int, values: Sequence[float]) -> bytes:
    return _bytes(number, struct.pack(f"<{len(values)}d", *values))


def event(wall_time: float, step: int = 0, content: bytes = b"") -> bytes:
    """Return an event of a step, its content one of those below."""
    return _double(1, wall_time) + _integer(2, step) + content


def file_version() -> bytes:
    """Return the beginning of a file."""
    return _bytes(3, b"brain.Event:2")


def session_start() -> bytes:
    """Return the notice that all steps from this one on are written again."""
    return _bytes(7, _integer(1, _START))


def _summary(tag: str, value: bytes) -> bytes:
    return _bytes(5, _bytes(1, _bytes(1, tag.encode()) + value))


def scalar(tag: str, value: float) -> bytes:
    """Return one number, kept as a float32."""
    return _summary(tag, _float(2, value))


def histogram(tag: str, values: Histogram) -> bytes:
    """Return how elements are spread."""
    numbers = (
        values.least,
        values.largest,
        values.elements,
        values.total,
        values.squares,
    )
    parts = [_double(i, number) for i, number in enumerate(numbers, 1)]
    parts += [_doubles(6, values.limits), _doubles(7, values.counts)]
    return _summary(tag, _bytes(5, b"".join(parts)))


def text(tag: str, words: str) -> bytes:
    """Return a text, which is shown as Markdown."""
    shape = _bytes(2, _integer(1, 1))  # one dimension, of size 1
    tensor = _integer(1, _STRING) + _bytes(2, shape) + _bytes(8, words.encode())
    metadata = _bytes(1, _bytes(1, b"text"))
    return _summary(tag, _bytes(8, tensor) + _bytes(9, metadata))
