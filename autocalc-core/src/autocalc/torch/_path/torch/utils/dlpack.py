# SPDX-License-Identifier: MIT
"""`torch.utils.dlpack`: memory shared with other libraries."""

from __future__ import annotations

from typing import Any

from autocalc import from_dlpack as from_dlpack


def to_dlpack(tensor: Any) -> Any:
    """Return the DLPack capsule of a tensor, for other libraries."""
    return tensor.__dlpack__()
