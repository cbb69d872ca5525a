# SPDX-License-Identifier: MIT
"""PyTorch's place for the sampler of several processes."""

from autocalc.data import DistributedSampler

__all__ = ["DistributedSampler"]
