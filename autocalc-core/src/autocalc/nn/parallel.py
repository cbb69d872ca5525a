# SPDX-License-Identifier: MIT
"""PyTorch's place for models on several devices; here there is one."""

from autocalc.nn._parallel import DataParallel

__all__ = ["DataParallel"]
