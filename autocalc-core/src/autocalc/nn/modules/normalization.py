# SPDX-License-Identifier: MIT
"""PyTorch's place for norms that need no batch."""

from autocalc.nn import GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm

__all__ = ["GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]
