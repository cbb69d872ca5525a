# SPDX-License-Identifier: MIT
"""Transforms of samples, which can also take a whole batch in one step.

`transform(sample)` changes one sample; `transform.batch(samples)` changes samples that
are stacked along a first dimension, and gives the same values.  Any other function of a
sample works as a data set's transform too; it is then called sample by sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from autocalc._creation import from_numpy
from autocalc._tensor import Tensor
from autocalc.data._arrays import Array, as_array
from autocalc.data._collate import default_collate
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = ["Compose", "Flatten", "Normalize", "Transform", "apply_to_batch"]

#: A tensor gives a tensor, an array an array.
Value = TypeVar("Value", Tensor, Array)


class Transform:
    """The base of transforms that are written once, on arrays, for samples and batches.

    A subclass writes `apply(array, first)`, where the sample's own dimensions begin at
    dimension `first`: 0 for a sample, 1 for a batch.  It must not change `array`.
    """

    def apply(self, array: Array, first: int) -> Array:
        """Return the transformed array."""
        message = f"{type(self).__name__}: a transform needs an `apply` method."
        raise NotImplementedError(message)

    def __call__(self, sample: Value) -> Value:
        """Transform one sample, for example an image (channels, height, width)."""
        return self._apply_to(sample, 0)

    def batch(self, samples: Value) -> Value:
        """Transform samples that are stacked along the first dimension."""
        return self._apply_to(samples, 1)

    def _apply_to(self, value: Value, first: int) -> Value:
        if isinstance(value, Tensor):
            return from_numpy(self.apply(as_array(value), first))
        return self.apply(value, first)


class Normalize(Transform):
    """``(x - mean) / std``, channel by channel.

    Parameters
    ----------
    mean, std : float or sequence of float
        One number for everything, or one for each channel; channels are the third
        dimension from the end, as in an image (channels, height, width).

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
            message = (
                f"Normalize: `mean` has {self._mean.size} and `std` {self._std.size} "
                f"values; give as many, or one number."
            )
            raise ShapeError(message)
        if not (self._std > 0).all():
            message = f"Normalize: `std` is {std}; every value must be above 0."
            raise ArgumentError(message)

    def apply(self, array: Array, first: int) -> Array:
        """Return the normalised copy of `array`."""
        if array.dtype.kind != "f":
            message = (
                f"Normalize: got {array.dtype}, needs float32 or float64; "
                f"convert first (pixels of a data set's images already are float32)."
            )
            raise DTypeError(message)
        result = array - self._channels(self._mean, array, first)
        result /= self._channels(self._std, array, first)
        return result

    @staticmethod
    def _channels(values: Array, array: Array, first: int) -> Array:
        values = values.astype(array.dtype)
        if values.size == 1:
            return values.reshape(())
        if array.ndim - first < 3 or array.shape[-3] != values.size:
            message = (
                f"Normalize: {values.size} channels are to be normalised, the "
                f"{'batch' if first else 'sample'} has shape {array.shape}; its third "
                f"dimension from the end must count the channels."
            )
            raise ShapeError(message)
        return values.reshape(-1, 1, 1)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"Normalize(mean={self.mean}, std={self.std})"


class Flatten(Transform):
    """A sample's dimensions merged into one: (1, 28, 28) becomes (784,)."""

    def apply(self, array: Array, first: int) -> Array:
        """Return `array` with everything behind dimension `first` merged."""
        count = int(np.prod(array.shape[first:], dtype=np.int64))
        return array.reshape(*array.shape[:first], count)

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return "Flatten()"


class Compose(Transform):
    """One transform after the other.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.data.transforms import Compose, Flatten, Normalize
    >>> Compose([Normalize(0.1307, 0.3081), Flatten()])(ac.zeros(1, 28, 28)).shape
    (784,)
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)

    def __call__(self, sample: Any) -> Any:
        """Transform one sample."""
        for transform in self.transforms:
            sample = transform(sample)
        return sample

    def batch(self, samples: Any) -> Any:
        """Transform samples that are stacked along the first dimension."""
        for transform in self.transforms:
            samples = apply_to_batch(transform, samples)
        return samples

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"Compose({self.transforms})"


def apply_to_batch(transform: Callable[[Any], Any] | None, samples: Any) -> Any:
    """Transform stacked samples: in one step if `transform` can, else one by one."""
    if transform is None:
        return samples
    if isinstance(transform, Transform):
        return transform.batch(samples)
    return default_collate([transform(samples[i]) for i in range(len(samples))])
