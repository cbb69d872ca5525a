# SPDX-License-Identifier: MIT
"""PyTorch's place for draws from an interval."""

from autocalc.distributions import Uniform

__all__ = ["Uniform"]
