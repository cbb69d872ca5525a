# SPDX-License-Identifier: MIT
"""PyTorch's place for the normal distribution."""

from autocalc.distributions import Normal

__all__ = ["Normal"]
