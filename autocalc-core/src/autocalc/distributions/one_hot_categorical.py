# SPDX-License-Identifier: MIT
"""PyTorch's place for draws of one class as vectors."""

from autocalc.distributions import OneHotCategorical

__all__ = ["OneHotCategorical"]
