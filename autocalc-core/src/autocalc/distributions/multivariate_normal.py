# SPDX-License-Identifier: MIT
"""PyTorch's place for correlated normal draws."""

from autocalc.distributions import MultivariateNormal

__all__ = ["MultivariateNormal"]
