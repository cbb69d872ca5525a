# SPDX-License-Identifier: MIT
"""PyTorch's place for windows taken apart and put together."""

from autocalc.nn import Fold, Unfold

__all__ = ["Fold", "Unfold"]
