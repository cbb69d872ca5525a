# SPDX-License-Identifier: MIT
"""Resize images by two multiplications with matrices of weights."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from autocalc._tensor.checks import check_flags
from autocalc.data._arrays import Array, Indices
from autocalc.data._geometry import check_image, image_size
from autocalc.data._transform import Transform
from autocalc.errors import ArgumentError, DTypeError

_INTERPOLATIONS = ("bilinear", "nearest")


class Resize(Transform):
    """Changes the size of images.

    ``"nearest"`` copies the old pixel that contains the start of the new pixel.
    ``"bilinear"`` computes a weighted mean of old pixels.  The weights form a triangle
    around the centre of the new pixel.  The triangle extends one old pixel to each
    side.  If `antialias` is True and the image shrinks, the triangle is wider by the
    factor ``old size / new size``.

    Parameters
    ----------
    size : int or (int, int)
        The height and the width.  One integer is the length of the shorter edge; then
        the aspect ratio is kept.
    interpolation : {"bilinear", "nearest"}, default "bilinear"
        The method of interpolation.
    max_size : int, optional
        The largest length of the longer edge, if `size` is one integer.
    antialias : bool, default True
        True to take all old pixels into account if the image shrinks.

    Examples
    --------
    >>> import autocalc as ac
    >>> image = ac.tensor([[0.0, 4.0], [8.0, 12.0]])
    >>> ac.data.transforms.Resize(1)(image).tolist()
    [[6.0]]
    >>> ac.data.transforms.Resize((2, 4), "nearest")(image).tolist()
    [[0.0, 0.0, 4.0, 4.0], [8.0, 8.0, 12.0, 12.0]]
    """

    def __init__(
        self,
        size: int | Sequence[int],
        interpolation: Any = "bilinear",
        max_size: int | None = None,
        antialias: bool = True,
    ) -> None:
        check_flags("Resize", antialias=antialias)
        self.size = size
        self._size = image_size("Resize", size)
        self._keeps_shape = isinstance(size, int) or len(size) == 1
        # The members of torchvision's enumeration have these names as values.
        self.interpolation = getattr(interpolation, "value", interpolation)
        self.max_size = max_size
        self.antialias = antialias
        if self.interpolation not in _INTERPOLATIONS:
            raise ArgumentError(
                f"Resize: `interpolation` is {interpolation!r}; use one of "
                f"{', '.join(_INTERPOLATIONS)}."
            )
        if max_size is not None and not (
            self._keeps_shape and max_size >= self._size[0]
        ):
            raise ArgumentError(
                f"Resize: `max_size` is {max_size} and `size` is {size!r}; `max_size` "
                "needs a single number as `size`, and must not be below it."
            )

    def apply(self, array: Array, first: int) -> Array:
        """Return the images in the new size."""
        check_image("Resize", array, first)
        old = array.shape[-2], array.shape[-1]
        if 0 in old:
            message = (
                f"Resize: got shape {array.shape}; an image needs at least one pixel."
            )
            raise ArgumentError(message)
        new = self._new_size(*old)
        if new == old:
            return np.copy(array)
        if self.interpolation == "nearest":
            rows, columns = (_nearest(n, o) for n, o in zip(new, old, strict=True))
            picked: Array = array[..., rows[:, None], columns]
            return picked
        return self._weigh(array, old, new)

    def _new_size(self, height: int, width: int) -> tuple[int, int]:
        if not self._keeps_shape:
            return self._size
        short, long = min(height, width), max(height, width)
        edge = self._size[0]
        other = edge * long // short
        if self.max_size is not None and other > self.max_size:
            edge, other = max(self.max_size * edge // other, 1), self.max_size
        return (edge, other) if height <= width else (other, edge)

    def _weigh(self, array: Array, old: tuple[int, int], new: tuple[int, int]) -> Array:
        if array.dtype.kind not in "fu":
            raise DTypeError(
                f"Resize: got {array.dtype}, needs float32, float64 or uint8; convert "
                f'first, or pass `interpolation="nearest"`.'
            )
        working = np.float32 if array.dtype == np.uint8 else array.dtype
        rows, columns = (
            _weights(n, o, self.antialias).astype(working)
            for n, o in zip(new, old, strict=True)
        )
        result: Array = rows @ (array.astype(working) @ columns.T)
        if array.dtype == np.uint8:
            np.rint(result, out=result)
        return result.astype(array.dtype)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"Resize(size={self.size}, interpolation={self.interpolation!r})"


def _nearest(new: int, old: int) -> Indices:
    return np.arange(new, dtype=np.int64) * old // new


@functools.lru_cache(maxsize=32)
def _weights(new: int, old: int, antialias: bool) -> npt.NDArray[np.float64]:
    """Return the weight of each old pixel for each new pixel; rows sum to 1."""
    scale = old / new
    reach = max(scale, 1.0) if antialias else 1.0
    middles = (np.arange(new) + 0.5) * scale
    distance = np.abs(np.arange(old) + 0.5 - middles[:, None])
    weights: npt.NDArray[np.float64] = np.maximum(1.0 - distance / reach, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
