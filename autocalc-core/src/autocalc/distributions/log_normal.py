# SPDX-License-Identifier: MIT
"""PyTorch's place for the exponential of normal draws."""

from autocalc.distributions import LogNormal

__all__ = ["LogNormal"]
