# SPDX-License-Identifier: MIT
"""Pictures: reading them from files, and drawing them with characters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from autocalc.errors import DataError, PluginError

Grey = npt.NDArray[np.float32]

_PGM = re.compile(
    rb"(?P<kind>P[25])(\s+|#[^\n]*\n)+(?P<width>\d+)(\s+|#[^\n]*\n)+(?P<height>\d+)"
    rb"(\s+|#[^\n]*\n)+(?P<white>\d+)\s"
)

#: From blank to full ink.
_SHADES = " ░▒▓█"
_ASCII_SHADES = " .:+#"


def read_picture(path: Path, size: tuple[int, int]) -> Grey:
    """Return a grey picture as ink from 0 to 1, of `size` (height, width).

    NumPy files (.npy) and plain or binary PGM files are read directly.  Pillow reads
    other formats, and brings them to that size.  Dark ink on a light background is
    inverted, because the data sets have light ink on black.
    """
    if path.suffix == ".npy":
        ink = _from_numpy(path)
    elif path.suffix == ".pgm":
        ink = _from_pgm(path)
    else:
        ink = _from_pillow(path, size)
    if ink.shape != size:
        raise DataError(
            f"{path} is {ink.shape[0]} x {ink.shape[1]}; the model needs "
            f"{size[0]} x {size[1]}. Resize it first."
        )
    border = np.concatenate([ink[0], ink[-1], ink[:, 0], ink[:, -1]])
    return 1 - ink if border.mean() > 0.5 else ink


def _from_numpy(path: Path) -> Grey:
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # also from the parser of its header
        raise DataError(f"{path} is not a NumPy array: {error}.") from error
    array = array.squeeze() if array.ndim > 2 else array
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise DataError(
            f"{path} contains {array.dtype} of shape {array.shape}; an image must have "
            "numbers in two dimensions."
        )
    scale = 255 if array.dtype.kind in "ui" else 1
    return _scaled(array, scale)


def _scaled(values: Any, white: float) -> Grey:
    ink: Grey = np.asarray(values, np.float32) / np.float32(white)
    return ink


def _from_pgm(path: Path) -> Grey:
    """Read a portable grey map: ``P2`` or ``P5``, width, height, white, pixels."""
    data = path.read_bytes()
    match = _PGM.match(data)
    if match is None:
        raise DataError(f"{path} is not a PGM image (P2 or P5).")
    width, height, white = (int(match[name]) for name in ("width", "height", "white"))
    pixels = data[match.end() :]
    values: Any = np.zeros(0)
    if match["kind"] == b"P2":
        words = pixels.split()
        values = np.array(words if all(map(bytes.isdigit, words)) else [], np.float32)
    elif len(pixels) == width * height * (1 + (white > 255)):
        values = np.frombuffer(pixels, ">u2" if white > 255 else "u1")
    if values.size != width * height or not 0 < white < 1 << 16:
        message = (
            f"{path} does not have {width} x {height} pixels between 0 and {white}."
        )
        raise DataError(message)
    return _scaled(values.reshape(height, width), white)


def _from_pillow(path: Path, size: tuple[int, int]) -> Grey:
    try:
        from PIL import Image
    except ImportError:
        raise PluginError(
            f"{path}: images other than .npy and .pgm need Pillow, which is not "
            "installed. Get it with: pip install autocalc-core[plot]"
        ) from None
    try:
        with Image.open(path) as image:
            grey = image.convert("L").resize((size[1], size[0]))
    except OSError as error:
        raise DataError(f"{path} cannot be read as an image: {error}.") from error
    return _scaled(grey, 255)


def draw(ink: Any, unicode: bool) -> str:
    """Return a picture drawn with characters.

    Each pixel takes two characters, because a character is twice as high as wide.
    """
    shades = _SHADES if unicode else _ASCII_SHADES
    levels = np.clip(np.asarray(ink) * len(shades), 0, len(shades) - 1).astype(int)
    return "\n".join("".join(2 * shades[i] for i in row).rstrip() for row in levels)
