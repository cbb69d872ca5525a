# SPDX-License-Identifier: MIT
"""PyTorch's place for the Cauchy distribution."""

from autocalc.distributions import Cauchy

__all__ = ["Cauchy"]
