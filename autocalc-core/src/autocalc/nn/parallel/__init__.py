# SPDX-License-Identifier: MIT
"""Models on a single device and in several processes."""

from autocalc.nn._distributed.data_parallel import DataParallel
from autocalc.nn._distributed.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]
