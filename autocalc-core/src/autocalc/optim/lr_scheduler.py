# SPDX-License-Identifier: MIT
"""Schedulers of the learning rate."""

from autocalc.optim._scheduler import CosineAnnealingLR, LRScheduler, StepLR

__all__ = ["CosineAnnealingLR", "LRScheduler", "StepLR"]
