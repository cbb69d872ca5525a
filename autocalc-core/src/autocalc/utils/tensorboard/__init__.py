# SPDX-License-Identifier: MIT
"""Event files for TensorBoard, with PyTorch's interface and without dependencies."""

from autocalc.utils.tensorboard._writer import SummaryWriter

__all__ = ["SummaryWriter"]
