# SPDX-License-Identifier: MIT
"""Transforms of pixel values and of the order of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc.data._arrays import Array, fresh, scaled
from autocalc.data._overrides import overrides
from autocalc.data._transform import Transform
from autocalc.errors import ArgumentError, DTypeError, ShapeError

#: The methods by which a subclass of `Normalize` can change the results.
_PLAIN = ("apply", "write", "__call__", "batch")


class ToTensor(Transform):
    """Converts an image of another library to a tensor (channels, height, width).

    The input is an array of shape (height, width) or (height, width, channels), or an
    image of Pillow.  The channels become the first dimension.  Bytes become float32
    numbers from 0 to 1.  Tensors are not changed, because the data sets of AutoCalc
    already return such images.

    Examples
    --------
    >>> import autocalc as ac
    >>> import numpy as np
    >>> image = ac.data.transforms.ToTensor()(np.full((4, 5, 3), 255, np.uint8))
    >>> image.shape, image.max().item()
    (autocalc.Size([3, 4, 5]), 1.0)
    """

    def __call__(self, sample: Any) -> Any:
        """Transform one image."""
        return self._convert(sample, 0)

    def batch(self, samples: Any) -> Any:
        """Transform images that are stacked along the first dimension."""
        return self._convert(samples, 1)

    def _convert(self, value: Any, first: int) -> Tensor:
        if isinstance(value, Tensor):
            return value
        if not isinstance(value, np.ndarray) and not hasattr(
            value, "__array_interface__"
        ):
            raise DTypeError(
                f"ToTensor: got {type(value).__name__}; it must be an array, a Pillow "
                "image, or a tensor."
            )
        array = np.asarray(value)
        if array.ndim - first not in {2, 3}:
            raise ShapeError(
                f"ToTensor: got shape {array.shape}; it must be (height, width) or "
                "(height, width, "
                f"channels){' behind that of the batch' if first else ''}."
            )
        if array.ndim - first == 2:
            array = array[..., None]
        array = np.ascontiguousarray(np.moveaxis(array, -1, first))
        if array.dtype == np.uint8:
            return from_numpy(scaled(array, 255))
        return from_numpy(array)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return "ToTensor()"


class Normalize(Transform):
    """Normalises each channel of images: ``(x - mean) / std``.

    Parameters
    ----------
    mean, std : float or sequence of float
        The mean and the standard deviation: one number for all channels, or one for
        each channel.  The channels are the third dimension from the end.

    Notes
    -----
    Images that a data set stores as bytes are computed as ``byte * scale + shift``,
    which is faster than ``(byte / 255 - mean) / std``.  The results of the two formulas
    may differ in the last bits.  Both are within a few rounding errors of the exact
    value, relative to the larger of ``x / std`` and ``mean / std``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.data.transforms.Normalize(0.5, 0.5)(ac.tensor([0.0, 0.5, 1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """

    def __init__(
        self, mean: float | Sequence[float], std: float | Sequence[float]
    ) -> None:
        self.mean, self.std = mean, std
        self._mean, self._std = np.asarray(mean, float), np.asarray(std, float)
        if self._mean.shape not in {(), self._std.shape} and self._std.shape != ():
            raise ShapeError(
                f"Normalize: `mean` has {self._mean.size} values and `std` has "
                f"{self._std.size}; give as many values for `std` as for `mean`, or "
                "one number for all channels."
            )
        if not (self._std > 0).all():
            message = f"Normalize: `std` is {std}; every value must be above 0."
            raise ArgumentError(message)
        self._scale, self._shift = 1 / self._std, -self._mean / self._std

    def from_bytes(self, images: Array, white: int, first: int) -> Any:
        """Transform images of bytes like images of float32; byte `white` means 1."""
        if not overrides(type(self), "from_bytes", *_PLAIN):
            return super().from_bytes(images, white, first)
        pixels = fresh(images.shape, np.float32)
        scale = self._channels(self._scale / white, pixels, first)
        shift = self._channels(self._shift, pixels, first)
        # NumPy multiplies bytes in pieces, which takes 1.2 times as long.
        np.copyto(pixels, images)
        pixels *= scale
        pixels += shift
        return from_numpy(pixels)

    def apply(self, array: Array, first: int) -> Array:
        """Return a normalised copy of `array`."""
        return self.write(array, first)

    def write(self, array: Array, first: int, out: Array | None = None) -> Array:
        """Write the normalised `array` into `out`, which may be `array` itself."""
        if array.dtype.kind != "f":
            raise DTypeError(
                f"Normalize: got {array.dtype}; float32 or float64 is needed. Convert "
                "it first (the images of AutoCalc's data sets already are float32)."
            )
        mean, std = (
            self._channels(values, array, first) for values in (self._mean, self._std)
        )
        out = fresh(array.shape, array.dtype) if out is None else out
        np.subtract(array, mean, out=out)
        out /= std
        return out

    @staticmethod
    def _channels(values: Array, array: Array, first: int) -> Array:
        values = values.astype(array.dtype)
        if values.size == 1:
            return values.reshape(())
        if array.ndim - first < 3 or array.shape[-3] != values.size:
            raise ShapeError(
                f"Normalize: `mean` and `std` are for {values.size} channels, but the "
                f"{'batch' if first else 'sample'} has shape {array.shape}; its third "
                "dimension from the end must be the channels."
            )
        return values.reshape(-1, 1, 1)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"Normalize(mean={self.mean}, std={self.std})"


class Flatten(Transform):
    """Merges all dimensions of a sample into one: (1, 28, 28) becomes (784,).

    Examples
    --------
    >>> import autocalc as ac
    >>> flatten = ac.data.transforms.Flatten()
    >>> flatten(ac.zeros(1, 28, 28)).shape, flatten.batch(ac.zeros(8, 1, 28, 28)).shape
    (autocalc.Size([784]), autocalc.Size([8, 784]))
    """

    def apply(self, array: Array, first: int) -> Array:
        """Return `array` with all dimensions from `first` on merged into one."""
        count = int(np.prod(array.shape[first:], dtype=np.int64))
        return array.reshape(*array.shape[:first], count)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return "Flatten()"
