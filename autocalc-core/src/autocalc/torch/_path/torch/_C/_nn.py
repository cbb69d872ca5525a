# SPDX-License-Identifier: MIT
"""`torch._C._nn`: the parser of the arguments of `Module.to`, and `linear`."""

from __future__ import annotations

from typing import Any

from autocalc.nn._module.module import meant
from autocalc.nn.functional import linear as linear
from autocalc.torch import _mentioned


def _parse_to(
    *args: Any, non_blocking: bool = False, memory_format: Any = None, **kwargs: Any
) -> tuple[Any, Any, bool, Any]:
    """Return the device, the dtype, `non_blocking` and `memory_format`."""
    dtype, device = meant(args, **kwargs)
    return device, dtype, non_blocking, memory_format


__getattr__ = _mentioned.names_of(__name__)
