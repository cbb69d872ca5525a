# SPDX-License-Identifier: MIT
"""PyTorch's place for models on several devices; here there is one, in one process."""

from autocalc.nn._parallel import DataParallel, DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]
