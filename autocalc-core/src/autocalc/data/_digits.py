# SPDX-License-Identifier: MIT
"""The data set that is part of AutoCalc: real digits without a download."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from autocalc._tensor.checks import check_flags
from autocalc.data._arrays import Array
from autocalc.data._idx import read_idx
from autocalc.data._images import ImageDataset

#: An IDX file of 1,797 rows; each has the 64 pixels of an image, then its digit.
_FILE = Path(__file__).parent / "files" / "digits-idx2-ubyte.gz"
_TEST_IMAGES = 360
# 619 has no factor in common with 1,797, so i -> 619 i mod 1,797 is a permutation.
# This shuffle needs no random numbers and never changes.
_SPREAD = 619


class Digits(ImageDataset):
    """1,797 handwritten digits of 8 x 8 pixels; the data set is part of AutoCalc.

    Parameters
    ----------
    train : bool, default True
        True for the 1,437 training images, False for the 360 test images.
    transform, target_transform : callable, optional
        Functions that are applied to each image and to each label.  Transforms of
        `data.transforms` are applied to a whole batch at once.

    Notes
    -----
    This is the test part of "Optical Recognition of Handwritten Digits" by E. Alpaydin
    and C. Kaynak (UCI Machine Learning Repository, CC BY 4.0).  The value of a pixel is
    the number of inked points, 0 to 16, in a block of 4 x 4 points.

    The split is fixed: image ``i`` of the file is a test image if ``619 * i % 1797 <
    360``. So the same people wrote the training images and the test images.  The last
    360 images of the file were written by other people.  An MLP that reaches 99 % on
    the test images of this split reaches only 91 % on those 360 images if it is trained
    on the others.

    Examples
    --------
    >>> import autocalc as ac
    >>> image, label = ac.data.Digits()[0]
    >>> image.shape, len(ac.data.Digits()), len(ac.data.Digits(train=False))
    (autocalc.Size([1, 8, 8]), 1437, 360)
    """

    classes = tuple("0123456789")
    white = 16

    def __init__(
        self,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        check_flags("Digits", train=train)
        self.train = train
        table: Array = read_idx(_FILE)
        rows = table[_is_test(len(table)) != train]
        images = rows[:, :64].reshape(-1, 8, 8)
        super().__init__(images, rows[:, 64], transform, target_transform)


def _is_test(count: int) -> Array:
    return np.arange(count) * _SPREAD % count < _TEST_IMAGES
