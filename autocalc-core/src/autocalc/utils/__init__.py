# SPDX-License-Identifier: MIT
"""PyTorch's places for what AutoCalc has elsewhere."""

from autocalc.utils import _pytree as _pytree
from autocalc.utils import checkpoint, data, tensorboard

__all__ = ["checkpoint", "data", "tensorboard"]
