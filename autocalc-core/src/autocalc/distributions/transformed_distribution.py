# SPDX-License-Identifier: MIT
"""PyTorch's place for functions of draws."""

from autocalc.distributions import TransformedDistribution

__all__ = ["TransformedDistribution"]
