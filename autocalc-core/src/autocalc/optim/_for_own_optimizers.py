# SPDX-License-Identifier: MIT
"""What PyTorch's `optim.optimizer` has for optimizers that others write."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autocalc._graph._grad_mode import set_grad_enabled

__all__ = ["capturable_devices", "default_to_foreach", "grad_for_step", "required"]


class _Required:
    """The default of a setting that has none."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def grad_for_step(step: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate `step`: it records if the optimizer is ``differentiable``."""

    @wraps(step)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            return step(self, *args, **kwargs)

    return wrapped


def default_to_foreach(
    params: Any, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether steps are better fused, or for lists: neither, on a CPU."""
    return False, False


def capturable_devices(supports_xla: bool = True) -> list[str]:
    """Return the devices whose steps a graph captures: none."""
    return []
