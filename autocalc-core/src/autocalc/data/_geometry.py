# SPDX-License-Identifier: MIT
"""Transforms that crop, pad or flip images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from autocalc._dispatch.selection.arrays import arrays
from autocalc._tensor.checks import check_flags, require
from autocalc._tensor.generator import default_generator
from autocalc.data._arrays import Array, Indices
from autocalc.data._transform import RandomTransform, Transform
from autocalc.errors import ArgumentError, ShapeError

#: The padding modes; torchvision and NumPy use the same names.
_MODES = ("constant", "edge", "reflect", "symmetric")

#: Left, top, right, bottom.
_Margins = tuple[int, int, int, int]


def image_size(where: str, size: object) -> tuple[int, int]:
    """Return (height, width) of a size given as one number or two."""
    given = (size, size) if isinstance(size, int) else size
    if (
        isinstance(given, Sequence)
        and len(given) in {1, 2}
        and all(isinstance(edge, int) and edge > 0 for edge in given)
    ):
        return given[0], given[-1]
    message = f"{where}: `size` is {size!r}; use one positive int or (height, width)."
    raise ArgumentError(message)


def check_image(where: str, array: Array, first: int) -> None:
    """Raise an error unless images have a height and a width."""
    if array.ndim - first >= 2:
        return
    raise ShapeError(
        f"{where}: got shape {array.shape}; its last two dimensions must be height and "
        f"width{', behind that of the batch' if first else ''}."
    )


def _pad(array: Array, margins: _Margins, mode: str, fill: float) -> Array:
    left, top, right, bottom = margins
    if not any(margins):
        return array
    widths = [(0, 0)] * (array.ndim - 2) + [(top, bottom), (left, right)]
    extra = {"constant_values": fill} if mode == "constant" else {}
    return np.pad(array, widths, cast("Any", mode), **extra)


class CenterCrop(Transform):
    """Crops the middle of an image; a smaller image is padded with zeros.

    Parameters
    ----------
    size : int or (int, int)
        The height and the width of the result.  One integer means a square.

    Examples
    --------
    >>> import autocalc as ac
    >>> crop = ac.data.transforms.CenterCrop(2)
    >>> crop(ac.arange(16).reshape(1, 4, 4)).tolist()
    [[[5, 6], [9, 10]]]
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = image_size("CenterCrop", size)

    def apply(self, array: Array, first: int) -> Array:
        """Return the middle of the images."""
        check_image("CenterCrop", array, first)
        (height, width), (rows, columns) = self.size, array.shape[-2:]
        more, wider = max(height - rows, 0), max(width - columns, 0)
        # If the padding is odd, the extra pixel is at the right or the bottom.
        margins = (wider // 2, more // 2, (wider + 1) // 2, (more + 1) // 2)
        array = _pad(array, margins, "constant", 0)
        top = round((array.shape[-2] - height) / 2)
        left = round((array.shape[-1] - width) / 2)
        part: Array = array[..., top : top + height, left : left + width]
        return np.copy(part)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"CenterCrop(size={self.size})"


class RandomCrop(RandomTransform):
    """Crops an image at a random position, after an optional padding.

    Parameters
    ----------
    size : int or (int, int)
        The height and the width of the result.  One integer means a square.
    padding : int or sequence of int, optional
        The padding: one integer for all sides, (left and right, top and bottom), or
        (left, top, right, bottom).  None means no padding.
    pad_if_needed : bool, default False
        True to pad images that are smaller than the result on both sides.
    fill : float, default 0
        The value of the padding for the mode ``"constant"``.
    padding_mode : {"constant", "edge", "reflect", "symmetric"}, default "constant"
        The values of the padding.  ``"constant"``: the number `fill`.  ``"edge"``: the
        pixel at the border.  ``"reflect"``: the mirror image without the pixel at the
        border.  ``"symmetric"``: the mirror image including that pixel.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.data.transforms.RandomCrop(32, padding=4)(ac.zeros(3, 32, 32)).shape
    autocalc.Size([3, 32, 32])
    """

    def __init__(
        self,
        size: int | Sequence[int],
        padding: int | Sequence[int] | None = None,
        pad_if_needed: bool = False,
        fill: float = 0,
        padding_mode: str = "constant",
    ) -> None:
        check_flags("RandomCrop", pad_if_needed=pad_if_needed)
        self.size = image_size("RandomCrop", size)
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode
        self._margins = _margins(padding)
        if padding_mode not in _MODES:
            raise ArgumentError(
                f"RandomCrop: `padding_mode` is {padding_mode!r}; use one of "
                f"{', '.join(_MODES)}."
            )

    def change(self, batch: Array) -> Array:
        """Return a randomly positioned part of each image."""
        check_image("RandomCrop", batch, 1)
        height, width = self.size
        images = self._padded(batch)
        rows, columns = images.shape[-2] - height, images.shape[-1] - width
        if rows < 0 or columns < 0:
            raise ShapeError(
                f"RandomCrop: images of {images.shape[-2]} x {images.shape[-1]} "
                f"(padding included) are smaller than the requested {height} x "
                f"{width}; pad more, or pass `pad_if_needed=True`."
            )
        places = _uniform(len(batch), 2) * (rows + 1, columns + 1)
        tops, lefts = places.astype(np.int64).T
        return _cut(images, tops, lefts, height, width)

    def _padded(self, batch: Array) -> Array:
        images = _pad(batch, self._margins, self.padding_mode, self.fill)
        if not self.pad_if_needed:
            return images
        wider = max(self.size[1] - images.shape[-1], 0)
        higher = max(self.size[0] - images.shape[-2], 0)
        margins = (wider, higher, wider, higher)
        return _pad(images, margins, self.padding_mode, self.fill)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"RandomCrop(size={self.size}, padding={self.padding})"


def _margins(padding: Any) -> _Margins:
    given = (padding or 0,) if padding is None or isinstance(padding, int) else padding
    if (
        isinstance(given, Sequence)
        and len(given) in {1, 2, 4}
        and all(isinstance(edge, int) and edge >= 0 for edge in given)
    ):
        four = tuple(given) * (4 // len(given))
        return cast("_Margins", four)
    raise ArgumentError(
        f"RandomCrop: `padding` is {padding!r}; use an int, (left and right, top and "
        f"bottom), or (left, top, right, bottom), none of them negative."
    )


def _cut(
    images: Array, tops: Indices, lefts: Indices, height: int, width: int
) -> Array:
    """Return a part of each image, which begins at the image's own top and left."""
    result = np.empty((*images.shape[:-2], height, width), images.dtype)
    for part, image, top, left in zip(result, images, tops, lefts, strict=True):
        part[...] = image[..., top : top + height, left : left + width]
    return result


def _uniform(*shape: int) -> npt.NDArray[np.float64]:
    """Return random numbers in [0, 1); each uses one word of the generator."""
    bits = np.empty(shape, np.int32)
    seed, offset = default_generator.draw(bits.size)
    arrays.random_bits(seed, offset, 31, into=bits)
    units: npt.NDArray[np.float64] = np.ldexp(bits, -31)
    return units


class RandomHorizontalFlip(RandomTransform):
    """Flips an image horizontally with probability `p`.

    Parameters
    ----------
    p
        The probability of a flip, from 0 to 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> flip = ac.data.transforms.RandomHorizontalFlip(p=1.0)
    >>> flip(ac.arange(3).reshape(1, 1, 3)).tolist()
    [[[2, 1, 0]]]
    """

    def __init__(self, p: float = 0.5) -> None:
        require("RandomHorizontalFlip", "p", p, 0.0 <= p <= 1.0, "from 0 to 1")
        self.p = p

    def change(self, batch: Array) -> Array:
        """Return the images; a random selection of them is flipped."""
        check_image("RandomHorizontalFlip", batch, 1)
        turned = _uniform(len(batch)) < self.p
        result = np.copy(batch)
        result[turned] = batch[turned][..., ::-1]
        return result

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"RandomHorizontalFlip(p={self.p})"
