# SPDX-License-Identifier: MIT
"""The events of TensorBoard as protocol buffers (proto3), written by hand.

These parts of tensorboard/compat/proto are used, each field with its number::

    Event            wall_time=1 double  step=2 int64  file_version=3 string
                     summary=5 Summary   session_log=7 SessionLog
    Summary          value=1 Value, repeated
    Value            tag=1 string  simple_value=2 float  image=4 Image
                     histo=5 HistogramProto  tensor=8 TensorProto
                     metadata=9 SummaryMetadata
    Image            height=1  width=2  colorspace=3 int32
                     encoded_image_string=4 bytes
    HistogramProto   min=1  max=2  num=3  sum=4  sum_squares=5 double
                     bucket_limit=6  bucket=7 double, packed
    TensorProto      dtype=1 enum  tensor_shape=2 TensorShapeProto  float_val=5 float
                     string_val=8 bytes
    TensorShapeProto dim=2 {size=1 int64}, repeated
    SummaryMetadata  plugin_data=1 {plugin_name=1 string  content=2 bytes}
    PrCurvePluginData      version=1  num_thresholds=2 int32
    HParamsPluginData      experiment=2  session_start_info=3  session_end_info=4
    Experiment             hparam_infos=4 HParamInfo  metric_infos=5 MetricInfo
    HParamInfo             name=1 string  type=4 enum  domain_discrete=5 ListValue
    MetricInfo             name=1 {tag=2 string}
    SessionStartInfo       hparams=1 {key=1 string  value=2 Value}, repeated
    SessionEndInfo         status=1 enum, SUCCESS 1
    google.protobuf.Value  number_value=2 double  string_value=3  bool_value=4
    ListValue              values=1 google.protobuf.Value, repeated
    SessionLog       status=1 enum, START 1
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: The wire types: how the bytes after the number of a field are read.
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5

_STRING, _FLOATS = 7, 1  # DT_STRING and DT_FLOAT of TensorProto
_START = 1
_SUCCESS = 1


class Histogram(NamedTuple):
    """Counts of elements: those at most `limits[i]` and above the limit before it."""

    least: float
    largest: float
    elements: int
    total: float
    squares: float
    limits: Sequence[float]
    counts: Sequence[float]


def _varint(value: int) -> bytes:
    """Return an integer in groups of 7 bits, the lowest first."""
    value &= 0xFFFFFFFFFFFFFFFF  # two's complement if negative
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
    """Return the bytes of the nearest float32; too large numbers become infinite."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf") if value > 0 else float("-inf"))


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _doubles(number: int, values: Sequence[float]) -> bytes:
    return _bytes(number, struct.pack(f"<{len(values)}d", *values))


def event(wall_time: float, step: int = 0, content: bytes = b"") -> bytes:
    """Return an event of a step; its content is one of those below."""
    return _double(1, wall_time) + _integer(2, step) + content


def file_version() -> bytes:
    """Return the first event of a file."""
    return _bytes(3, b"brain.Event:2")


def session_start() -> bytes:
    """Return the notice that all steps from this one on are written again."""
    return _bytes(7, _integer(1, _START))


def _summary(tag: str, value: bytes) -> bytes:
    return _bytes(5, _bytes(1, _bytes(1, tag.encode()) + value))


def scalar(tag: str, value: float) -> bytes:
    """Return one number, stored as a float32."""
    return _summary(tag, _float(2, value))


def histogram(tag: str, values: Histogram) -> bytes:
    """Return the distribution of elements."""
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
    """Return a text, which TensorBoard renders as Markdown."""
    shape = _bytes(2, _integer(1, 1))  # one dimension, of size 1
    tensor = _integer(1, _STRING) + _bytes(2, shape) + _bytes(8, words.encode())
    metadata = _bytes(1, _bytes(1, b"text"))
    return _summary(tag, _bytes(8, tensor) + _bytes(9, metadata))


def image(tag: str, height: int, width: int, channels: int, png: bytes) -> bytes:
    """Return a picture."""
    sizes = _integer(1, height) + _integer(2, width) + _integer(3, channels)
    return _summary(tag, _bytes(4, sizes + _bytes(4, png)))


def _plugin(name: bytes, content: bytes) -> bytes:
    return _bytes(9, _bytes(1, _bytes(1, name) + _bytes(2, content)))


def pr_curve(tag: str, rows: Sequence[Sequence[float]]) -> bytes:
    """Return the rows of a precision-recall curve, with a column for each threshold."""
    n = len(rows[0])
    shape = b"".join(_bytes(2, _integer(1, size)) for size in (len(rows), n))
    values = b"".join(as_float32(value) for row in rows for value in row)
    tensor = _integer(1, _FLOATS) + _bytes(2, shape) + _bytes(5, values)
    plugin = _plugin(b"pr_curves", _integer(1, 0) + _integer(2, n))
    return _summary(tag, _bytes(8, tensor) + plugin)


# ---- settings of a run --------------------------------------------------------------


def _value(value: Any) -> tuple[int, bytes]:
    """Return the number of the type of a setting, and the encoded setting."""
    if isinstance(value, bool):
        return 2, _integer(4, value)
    if isinstance(value, (int, float)):
        return 3, _double(2, value)
    return 1, _bytes(3, str(value).encode())


def _setting(name: str, value: Any, choices: Sequence[Any]) -> bytes:
    kind = _value(value)[0]
    domain = b"".join(_bytes(1, _value(choice)[1]) for choice in choices)
    info = _bytes(1, name.encode()) + _integer(4, kind)
    return _bytes(4, info + (_bytes(5, domain) if domain else b""))


def hparams(
    settings: Mapping[str, Any],
    metrics: Sequence[str],
    choices: Mapping[str, Sequence[Any]],
) -> tuple[bytes, bytes, bytes]:
    """Return an experiment, and the start and the end of one run of it."""
    infos = [_setting(k, v, choices.get(k, ())) for k, v in settings.items()]
    infos += [_bytes(5, _bytes(1, _bytes(2, tag.encode()))) for tag in metrics]
    pairs = [
        _bytes(1, _bytes(1, k.encode()) + _bytes(2, _value(v)[1]))
        for k, v in settings.items()
    ]
    parts = {
        "experiment": _bytes(2, b"".join(infos)),
        "session_start_info": _bytes(3, b"".join(pairs)),
        "session_end_info": _bytes(4, _integer(1, _SUCCESS)),
    }
    first, start, end = (
        _summary(f"_hparams_/{name}", _plugin(b"hparams", content))
        for name, content in parts.items()
    )
    return first, start, end
