# SPDX-License-Identifier: MIT
"""Modules for training on a single device or by several processes."""

from autocalc.nn._distributed.data_parallel import DataParallel
from autocalc.nn._distributed.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]
