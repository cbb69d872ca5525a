# SPDX-License-Identifier: MIT
"""Transforms of samples, which can also process a whole batch at once.

``transform(sample)`` changes one sample.  ``transform.batch(samples)`` changes samples
that are stacked along a first dimension, and returns the same values.  Any other
function of a sample can be used as the transform of a data set, too.  It is called for
each sample.

Images are tensors or arrays of shape (channels, height, width) or (height, width).
Random numbers come from the default generator, which a loader seeds for each batch.
"""

from autocalc.data._geometry import CenterCrop, RandomCrop, RandomHorizontalFlip
from autocalc.data._pixels import Flatten, Normalize, ToTensor
from autocalc.data._resize import Resize
from autocalc.data._transform import (
    Compose,
    Lambda,
    RandomTransform,
    Transform,
    apply_to_batch,
)

__all__ = [
    "CenterCrop",
    "Compose",
    "Flatten",
    "Lambda",
    "Normalize",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomTransform",
    "Resize",
    "ToTensor",
    "Transform",
    "apply_to_batch",
]
