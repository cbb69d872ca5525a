# SPDX-License-Identifier: MIT
"""PyTorch's place for draws of yes and no."""

from autocalc.distributions import Bernoulli

__all__ = ["Bernoulli"]
