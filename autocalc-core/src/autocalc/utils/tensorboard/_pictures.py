# SPDX-License-Identifier: MIT
"""Pictures for event files: arrays in any dimension order, encoded as PNG."""

from __future__ import annotations

import struct
import zlib
from importlib import import_module
from typing import Any

import numpy as np

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_type, short
from autocalc.errors import ArgumentError, DTypeError, ShapeError

Array = Any

#: The number of pictures in a row of `add_images`.
_IN_A_ROW = 8


def array_of(where: str, name: str, value: Any) -> Array:
    """Return a tensor, or anything that NumPy accepts, as an array."""
    if isinstance(value, Tensor):
        return value.detach().cpu().numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise DTypeError(f"{where}: `{name}` is {short(value)}; it must hold numbers.")
    return array


def pixels(where: str, name: str, value: Any, dataformats: Any) -> Array:
    """Return [height, width, 3 or 4] of uint8; several pictures become a grid."""
    array = array_of(where, name, value)
    order = check_type(where, "dataformats", dataformats, str, "a text").upper()
    if len(order) != array.ndim or sorted(order) not in _ORDERS:
        raise ShapeError(
            f"{where}: `{name}` has shape {array.shape}, and `dataformats` is "
            f"{dataformats!r}; it must name each dimension: N for images, C for "
            "channels, H and W."
        )
    array = np.transpose(array, [order.index(c) for c in "NHWC" if c in order])
    array = array if "C" in order else array[..., None]
    if array.shape[-1] not in {1, 3, 4}:
        raise ShapeError(
            f"{where}: `{name}` has {array.shape[-1]} channels; an image must have 1, "
            "3 or 4."
        )
    array = _grid(array) if "N" in order else array
    return np.repeat(_bytes_of(array), 3 if array.shape[-1] == 1 else 1, axis=-1)


_ORDERS = [sorted(order) for order in ("HW", "CHW", "NHW", "NCHW")]


def _bytes_of(array: Array) -> Array:
    """Return an array of uint8; in other dtypes, 1 means white."""
    if array.dtype == np.uint8:
        return array
    return (array.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def _grid(array: Array) -> Array:
    """Return pictures side by side, in rows of 8."""
    n, height, width, channels = array.shape
    columns = min(n, _IN_A_ROW)
    rows = -(-n // columns)
    full = np.zeros((rows * columns, height, width, channels), array.dtype)
    full[:n] = array
    full = full.reshape(rows, columns, height, width, channels)
    return full.swapaxes(1, 2).reshape(rows * height, columns * width, channels)


def png(array: Array) -> bytes:
    """Return the PNG file of [height, width, 3 or 4] of uint8."""
    height, width, channels = array.shape
    kind = {3: 2, 4: 6}[channels]  # RGB, with or without alpha
    head = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    lines = np.zeros((height, 1 + width * channels), np.uint8)  # 0: no filter
    lines[:, 1:] = array.reshape(height, -1)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(lines.tobytes())))
    return b"".join((b"\x89PNG\r\n\x1a\n", *parts, _chunk(b"IEND", b"")))


def _chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def drawn(where: str, figure: Any) -> Array:
    """Return a Matplotlib figure as [3, height, width] of uint8."""
    if not hasattr(figure, "savefig"):
        raise DTypeError(
            f"{where}: `figure` is {short(figure)}; it must be a figure of Matplotlib."
        )
    canvas = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].transpose(2, 0, 1)


def pr_rows(
    where: str, labels: Any, predictions: Any, thresholds: int, weights: Any
) -> list[list[float]]:
    """Return the counts of hits and misses, precision and recall for each threshold."""
    truth = array_of(where, "labels", labels).astype(bool).ravel()
    scores = array_of(where, "predictions", predictions).astype(np.float64).ravel()
    if truth.shape != scores.shape:
        raise ArgumentError(
            f"{where}: there are {truth.size} labels and {scores.size} predictions."
        )
    shares = np.ones_like(scores)
    if weights is not None:
        shares = shares * array_of(where, "weights", weights)
    places = np.clip(np.floor(scores * (thresholds - 1)), 0, thresholds - 1).astype(int)

    def above(chosen: Array) -> Array:
        counts = np.bincount(places[chosen], shares[chosen], thresholds)
        return np.cumsum(counts[::-1])[::-1]

    hits, alarms = above(truth), above(~truth)
    quiet, missed = alarms[0] - alarms, hits[0] - hits
    least = 1e-7
    precision = hits / np.maximum(least, hits + alarms)
    recall = hits / np.maximum(least, hits + missed)
    return [r.tolist() for r in (hits, alarms, quiet, missed, precision, recall)]
