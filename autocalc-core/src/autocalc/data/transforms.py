# SPDX-License-Identifier: MIT
"""Transforms of samples, which can also take a whole batch in one step.

`transform(sample)` changes one sample; `transform.batch(samples)` changes samples that
are stacked along a first dimension, and gives the same values.  Any other function of a
sample works as a data set's transform too; it is then called sample by sample.

Images are (channels, height, width) or (height, width), tensors or arrays.  Random
numbers come from the default generator, which a loader sets for each batch.
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
