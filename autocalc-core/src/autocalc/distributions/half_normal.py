# SPDX-License-Identifier: MIT
"""PyTorch's place for the absolute value of normal draws."""

from autocalc.distributions import HalfNormal

__all__ = ["HalfNormal"]
