# SPDX-License-Identifier: MIT
"""PyTorch's place for the exponential distribution."""

from autocalc.distributions import Exponential

__all__ = ["Exponential"]
