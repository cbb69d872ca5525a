# SPDX-License-Identifier: MIT
"""`autocalc.data` under PyTorch's name."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._absent import lookup as _lookup
from autocalc.data import *  # noqa: F403
from autocalc.data import __all__  # noqa: F401
from autocalc.utils.data import dataloader as dataloader
from autocalc.utils.data import dataset as dataset
from autocalc.utils.data import distributed as distributed
from autocalc.utils.data import sampler as sampler

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
