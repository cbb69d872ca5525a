# SPDX-License-Identifier: MIT
"""PyTorch's place for the beta distribution."""

from autocalc.distributions import Beta

__all__ = ["Beta"]
