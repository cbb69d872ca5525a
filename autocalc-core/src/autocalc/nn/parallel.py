# SPDX-License-Identifier: MIT
"""Models on several devices, of which there is one, and in several processes."""

from autocalc.nn._distributed.data_parallel import DataParallel
from autocalc.nn._distributed.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]
