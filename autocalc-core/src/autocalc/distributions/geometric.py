# SPDX-License-Identifier: MIT
"""PyTorch's place for the number of failures before a success."""

from autocalc.distributions import Geometric

__all__ = ["Geometric"]
