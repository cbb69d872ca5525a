# SPDX-License-Identifier: MIT
"""Labelled images, stored as bytes and returned as float32 in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc.data._arrays import Array, Indices, as_array
from autocalc.data._collate import default_collate
from autocalc.data._dataset import Dataset, checked_index
from autocalc.data._transform import as_transform
from autocalc.errors import DataError


class ImageDataset(Dataset):
    """The base class of data sets of images and their labels.

    The pixels are stored as bytes.  60,000 images of 28 x 28 pixels take 47 MB; in
    float32 they would take 188 MB.  They are converted to float32 batch by batch.  With
    `Normalize`, this takes 0.15 ms for 256 images.

    Attributes
    ----------
    data : Tensor
        All images as they were published, of dtype uint8.  Grey images have the shape
        (samples, height, width), colour images (samples, channels, height, width).
    targets : Tensor
        All labels, of shape (samples,) and dtype int64.
    classes : tuple of str
        The name of each class.  A label is an index into this tuple.
    """

    classes: tuple[str, ...] = ()
    #: The largest value of a pixel; pixels are divided by it.
    white: int = 255

    def __init__(
        self,
        images: Array,
        labels: Array,
        transform: Callable[[Any], Any] | None,
        target_transform: Callable[[Any], Any] | None,
    ) -> None:
        self._check(images, labels)
        self.data = from_numpy(images)
        self.targets = from_numpy(labels.astype(np.int64))
        self.transform = transform
        self.target_transform = target_transform

    def _check(self, images: Array, labels: Array) -> None:
        name = type(self).__name__
        if images.ndim not in {3, 4} or images.dtype != np.uint8:
            raise DataError(
                f"{name}: images of shape {images.shape} and type {images.dtype} were "
                "read; uint8 (samples, height, width) is needed, or (samples, "
                "channels, height, width). Download the files again."
            )
        if labels.shape != images.shape[:1] or labels.dtype != np.uint8:
            raise DataError(
                f"{name}: {images.shape[0]} images and labels of shape {labels.shape} "
                f"and type {labels.dtype} were read; one uint8 label for each image is "
                "needed. Download the files again."
            )
        if labels.size and labels.max() >= len(self.classes):
            raise DataError(
                f"{name}: the label {labels.max()} was read, but labels must be "
                f"between 0 and {len(self.classes) - 1}. Download the files again."
            )

    def __len__(self) -> int:
        """Return the number of images."""
        return int(self.data.shape[0])

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """Return image `index`, float32 (channels, height, width), and its label."""
        row = checked_index(type(self).__name__, index, len(self))
        image = self._transformed(as_array(self.data)[row], 0)
        label: Any = int(as_array(self.targets)[row])
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label

    def take(self, indices: Indices) -> tuple[Any, Any]:
        """Return a batch: the images and their labels.

        The images have the dtype float32 and the shape (n, channels, height, width).
        """
        images = self._transformed(as_array(self.data).take(indices, axis=0), 1)
        labels = as_array(self.targets).take(indices)
        return images, self._batch_labels(labels)

    def _transformed(self, images: Array, first: int) -> Any:
        """Transform bytes; grey images first get a dimension for their channel."""
        if self.data.ndim == 3:
            images = images[..., None, :, :]
        return as_transform(self.transform).from_bytes(images, self.white, first)

    def _batch_labels(self, labels: Array) -> Tensor:
        if self.target_transform is None:
            return from_numpy(labels)
        collated: Tensor = default_collate(
            [self.target_transform(label) for label in labels.tolist()]
        )
        return collated

    def __repr__(self) -> str:
        """Return the name, size and shape of the data set."""
        height, width = self.data.shape[-2:]
        return f"{type(self).__name__}({len(self)} images of {height} x {width})"
