# SPDX-License-Identifier: MIT
"""PyTorch's place for draws of one class."""

from autocalc.distributions import Categorical

__all__ = ["Categorical"]
