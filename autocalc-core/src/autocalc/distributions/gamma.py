# SPDX-License-Identifier: MIT
"""PyTorch's place for the gamma distribution."""

from autocalc.distributions import Gamma

__all__ = ["Gamma"]
