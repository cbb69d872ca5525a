# SPDX-License-Identifier: MIT
"""Utilities under PyTorch's names: checkpoints and TensorBoard files."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.utils import _pytree as _pytree
from autocalc.utils import checkpoint, tensorboard

if _TYPE_CHECKING:
    from autocalc.utils import data
else:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)

__all__ = ["checkpoint", "data", "tensorboard"]
