# SPDX-License-Identifier: MIT
"""The base classes of transforms, and their composition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc.data._arrays import Array, as_array, scaled
from autocalc.data._collate import default_collate
from autocalc.errors import DTypeError

#: A tensor is transformed to a tensor, and an array to an array.
Value = TypeVar("Value", Tensor, Array)


class Transform:
    """The base class of transforms that work on single samples and on batches.

    A subclass defines ``apply(array, first)``.  The dimensions of a sample begin at
    dimension `first`: 0 for a single sample, 1 for a batch.  The method must not change
    `array`.

    Data sets store images as bytes and call `from_bytes`, which converts them to
    numbers from 0 to 1 and calls `apply`.  A subclass can override `from_bytes` if it
    can work with the bytes directly.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Inverted(ac.data.transforms.Transform):
    ...     def apply(self, array, first):
    ...         return 1 - array
    >>> Inverted()(ac.tensor([0.0, 0.25]))
    tensor([1.0000, 0.7500])
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

    def from_bytes(self, images: Array, white: int, first: int) -> Any:
        """Transform images of bytes like images of float32; byte `white` means 1."""
        pixels = from_numpy(scaled(images, white))
        return self.batch(pixels) if first else self(pixels)

    def _apply_to(self, value: Value, first: int) -> Value:
        if isinstance(value, Tensor):
            return from_numpy(self.apply(as_array(value), first))
        return self.apply(value, first)


class RandomTransform(Transform):
    """The base class of transforms that use random numbers from the default generator.

    A subclass defines ``change(batch)``.  It must draw the same amount of random
    numbers for each sample.  Then a batch gets the same numbers as its samples would
    get one by one. A `Compose` of several random transforms is an exception: there the
    numbers come in another order.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Brightness(ac.data.transforms.RandomTransform):
    ...     def change(self, batch):
    ...         return batch * ac.rand(len(batch), 1).numpy()
    >>> _ = ac.manual_seed(0)
    >>> Brightness().batch(ac.ones(2, 3))  # a factor for each sample
    tensor([[0.3990, 0.3990, 0.3990],
            [0.8805, 0.8805, 0.8805]])
    """

    def change(self, batch: Array) -> Array:
        """Return the transformed batch."""
        message = f"{type(self).__name__}: a transform needs a `change` method."
        raise NotImplementedError(message)

    def apply(self, array: Array, first: int) -> Array:
        """Return the transformed sample or batch."""
        return self.change(array) if first else self.change(array[None])[0]


class Lambda(Transform):
    """A transform that applies any function to each sample.

    Parameters
    ----------
    lambd
        The function.  Its argument is one sample.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.data.transforms.Lambda(lambda image: 1 - image)(ac.ones(2)).tolist()
    [0.0, 0.0]
    """

    def __init__(self, lambd: Any) -> None:
        if not callable(lambd):
            raise DTypeError(
                f"Lambda: got {type(lambd).__name__}; it must be a function."
            )
        self.lambd = lambd

    def __call__(self, sample: Any) -> Any:
        """Transform one sample."""
        return self.lambd(sample)

    def batch(self, samples: Any) -> Any:
        """Transform the samples one by one."""
        return default_collate([self.lambd(samples[i]) for i in range(len(samples))])

    def __repr__(self) -> str:
        """Return the call that makes this transform."""
        return f"Lambda({self.lambd})"


class Compose(Transform):
    """A transform that applies several transforms one after the other.

    Parameters
    ----------
    transforms
        The transforms, or functions of one sample, in the order of their application.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.data.transforms import Compose, Flatten, Normalize
    >>> Compose([Normalize(0.1307, 0.3081), Flatten()])(ac.zeros(1, 28, 28)).shape
    autocalc.Size([784])
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


def as_transform(transform: Callable[[Any], Any] | None) -> Transform:
    """Return a transform for a function of a sample; None gives one without effect."""
    if isinstance(transform, Transform):
        return transform
    return Compose([] if transform is None else [transform])


def apply_to_batch(transform: Callable[[Any], Any] | None, samples: Any) -> Any:
    """Transform stacked samples, in one step if the transform has a method `batch`.

    Examples
    --------
    >>> import autocalc as ac
    >>> samples = ac.tensor([[0.0, 0.25], [0.5, 1.0]])
    >>> ac.data.transforms.apply_to_batch(lambda sample: 1 - sample, samples)
    tensor([[1.0000, 0.7500],
            [0.5000, 0.0000]])
    """
    if transform is None:
        return samples
    if isinstance(transform, Transform):
        return transform.batch(samples)
    return default_collate([transform(samples[i]) for i in range(len(samples))])
