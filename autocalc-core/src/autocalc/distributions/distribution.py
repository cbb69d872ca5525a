# SPDX-License-Identifier: MIT
"""PyTorch's place for what all distributions share."""

from autocalc.distributions import Distribution

__all__ = ["Distribution"]
