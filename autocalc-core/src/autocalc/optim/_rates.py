# SPDX-License-Identifier: MIT
"""The learning rates of groups, which are numbers or tensors of one element."""

from __future__ import annotations

from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor


def number_of(lr: Any) -> Any:
    """Return a learning rate as a number."""
    return lr.item() if isinstance(lr, Tensor) else lr


def rate_of(group: dict[str, Any]) -> Any:
    """Return the learning rate of a group as a number."""
    lr = group["lr"]
    return lr.item() if isinstance(lr, Tensor) else lr


def set_rate(group: dict[str, Any], lr: Any) -> None:
    """Change the learning rate of a group; a tensor is written in place."""
    held = group["lr"]
    if not isinstance(held, Tensor):
        group["lr"] = number_of(lr)
        return
    with no_grad():
        held.fill_(number_of(lr))


def is_rate(lr: Tensor) -> bool:
    """Return whether a tensor holds one number of 0 or more."""
    return lr.numel() == 1 and bool(lr.item() >= 0)
