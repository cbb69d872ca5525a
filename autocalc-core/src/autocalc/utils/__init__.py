# SPDX-License-Identifier: MIT
"""PyTorch's places for what AutoCalc has elsewhere."""

from autocalc.utils import data

__all__ = ["data"]
