# SPDX-License-Identifier: MIT
"""Mixed precision: products in bfloat16 or float16, parameters in float32."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.amp._autocast import (
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from autocalc.amp._autocast import get_autocast_dtype as get_autocast_dtype
from autocalc.amp._autocast import is_autocast_enabled as is_autocast_enabled
from autocalc.amp._grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
