# SPDX-License-Identifier: MIT
"""PyTorch's place for dimensions that are merged and split."""

from autocalc.nn import Flatten, Unflatten

__all__ = ["Flatten", "Unflatten"]
