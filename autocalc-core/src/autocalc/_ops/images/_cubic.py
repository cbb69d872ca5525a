# SPDX-License-Identifier: MIT
"""Cubic convolution: the weights of pixels by their distance.

Keys: Cubic convolution interpolation for digital image processing (1981).
"""

from __future__ import annotations

from autocalc._tensor import Tensor

#: The slope at distance 1.  PyTorch uses this value, and -0.5 with `antialias`.
SHARPNESS = -0.75


def near(d: Tensor, a: float = SHARPNESS) -> Tensor:
    """Return the weight at distances 0 to 1."""
    return ((a + 2) * d - (a + 3)) * d * d + 1


def far(d: Tensor, a: float = SHARPNESS) -> Tensor:
    """Return the weight at distances 1 to 2."""
    return ((d - 5) * d + 8) * d * a - 4 * a


def cubic_weights(share: Tensor) -> list[Tensor]:
    """Return the weights of the pixels at -1, 0, 1 and 2 for a place from 0 to 1."""
    return [far(share + 1), near(share), near(1 - share), far(2 - share)]
