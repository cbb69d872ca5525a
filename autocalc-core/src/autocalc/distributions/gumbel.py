# SPDX-License-Identifier: MIT
"""PyTorch's place for the Gumbel distribution."""

from autocalc.distributions import Gumbel

__all__ = ["Gumbel"]
