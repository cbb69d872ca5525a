# SPDX-License-Identifier: MIT
"""PyTorch's place for `Optimizer`."""

from autocalc.optim._optimizer import Optimizer

__all__ = ["Optimizer"]
