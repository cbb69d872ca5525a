# SPDX-License-Identifier: MIT
"""`torch.types`: names for annotations."""

from __future__ import annotations

import builtins
import os
from typing import Any

from autocalc import Size, Tensor, dtype
from autocalc import device as _device_type

Number = builtins.int | builtins.float | builtins.bool
Device = _device_type | str | builtins.int | None
FileLike = str | os.PathLike[str] | Any
_int, _float, _bool, _dtype, _device = (
    builtins.int,
    builtins.float,
    builtins.bool,
    dtype,
    _device_type,
)
_size = Size | list[builtins.int] | tuple[builtins.int, ...]
_TensorOrTensors = Tensor | tuple[Tensor, ...]
Storage = Any
