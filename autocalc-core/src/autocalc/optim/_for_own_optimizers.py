# SPDX-License-Identifier: MIT
"""Parts of PyTorch's `optim.optimizer` that optimizers of users need."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autocalc._graph._grad_mode import set_grad_enabled

__all__ = ["capturable_devices", "default_to_foreach", "grad_for_step", "required"]


class _Required:
    """The default of a setting that must be given."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def grad_for_step(step: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate `step`: record it if the optimizer is ``differentiable``."""

    @wraps(step)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults.get("differentiable", False)):
            return step(self, *args, **kwargs)

    return wrapped


def default_to_foreach(
    params: Any, differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether fused or list-based steps are better; on a CPU neither is."""
    return False, False


def capturable_devices(supports_xla: bool = True) -> list[str]:
    """Return the devices whose steps a graph can capture: none."""
    return []
