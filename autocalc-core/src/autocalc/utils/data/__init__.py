# SPDX-License-Identifier: MIT
"""`autocalc.data` under PyTorch's name."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._absent import lookup as _lookup
from autocalc.data import *  # noqa: F403
from autocalc.data import __all__  # noqa: F401

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
