# SPDX-License-Identifier: MIT
"""PyTorch's place for the softmax of many classes."""

from autocalc.nn import AdaptiveLogSoftmaxWithLoss

__all__ = ["AdaptiveLogSoftmaxWithLoss"]
