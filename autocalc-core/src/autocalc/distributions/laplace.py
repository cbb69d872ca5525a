# SPDX-License-Identifier: MIT
"""PyTorch's place for the Laplace distribution."""

from autocalc.distributions import Laplace

__all__ = ["Laplace"]
