# SPDX-License-Identifier: MIT
"""Event files that TensorBoard opens, under PyTorch's names; nothing to install."""

from autocalc.utils.tensorboard._writer import SummaryWriter

__all__ = ["SummaryWriter"]
