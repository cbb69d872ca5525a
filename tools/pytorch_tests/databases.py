# SPDX-License-Identifier: MIT
"""Replaces PyTorch's databases of operators; each one is empty."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_CORE = "torch.testing._internal.opinfo.core"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module(_CORE), name, [])


def mask_not_all_zeros(shape: Any) -> Any:
    """Return a mask with at least one True."""
    import torch

    while True:
        mask = torch.randint(2, shape).bool()
        if mask.any():
            return mask
