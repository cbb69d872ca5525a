# SPDX-License-Identifier: MIT
"""PyTorch's place for the Dirichlet distribution."""

from autocalc.distributions import Dirichlet

__all__ = ["Dirichlet"]
