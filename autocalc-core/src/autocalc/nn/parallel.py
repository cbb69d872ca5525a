# SPDX-License-Identifier: MIT
"""Models on several devices, of which there is one, and in several processes."""

from autocalc.nn._distributed import DistributedDataParallel
from autocalc.nn._parallel import DataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]
