# SPDX-License-Identifier: MIT
"""PyTorch's place for resizing."""

from autocalc.nn import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]
