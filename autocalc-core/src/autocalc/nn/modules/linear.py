# SPDX-License-Identifier: MIT
"""PyTorch's place for linear layers."""

from autocalc.nn import Bilinear, Identity, LazyLinear, Linear

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]
