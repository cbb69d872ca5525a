# SPDX-License-Identifier: MIT
"""PyTorch's place for channels that become pixels."""

from autocalc.nn import PixelShuffle, PixelUnshuffle

__all__ = ["PixelShuffle", "PixelUnshuffle"]
