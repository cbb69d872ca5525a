# SPDX-License-Identifier: MIT
"""Types of everything about kernels: arrays, shapes, dtypes, attributes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any  # the device's array; NumPy's on CPUs
Shape: TypeAlias = tuple[int, ...]
DType: TypeAlias = "np.dtype[Any]"
Attributes: TypeAlias = tuple[Any, ...]
