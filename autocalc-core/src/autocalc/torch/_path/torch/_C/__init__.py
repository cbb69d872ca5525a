# SPDX-License-Identifier: MIT
"""`torch._C`: the few names of PyTorch's engine that libraries use."""

from __future__ import annotations

from typing import Any

from autocalc.autograd import forward_ad as _forward_ad
from autocalc.torch import _mentioned
from autocalc.torch._overrides import DisableTorchFunction as DisableTorchFunction
from autocalc.torch._overrides import (
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
)
from autocalc.torch._overrides import disabled, state
from torch._C import _nn as _nn


def _get_tracing_state() -> None:
    """Return None: nothing is traced."""


def _log_api_usage_once(*_: Any) -> None:
    """Do nothing: usage is not logged."""


def _are_functorch_transforms_active() -> bool:
    """Return False: functions are not transformed."""
    return False


def _cuda_isInBadFork() -> bool:
    """Return False: a forked process has no GPU state to lose."""
    return False


def _is_fwd_grad_enabled() -> bool:
    """Return whether tangents are computed."""
    return _forward_ad._is_fwd_grad_enabled()


def _set_fwd_grad_enabled(mode: bool) -> None:
    """Switch tangents on or off."""
    _forward_ad._set_fwd_grad_enabled(mode)


_disabled_torch_function_impl = disabled


def _len_torch_function_stack() -> int:
    """Return the number of modes that override calls."""
    return len(state.modes)


def _is_torch_function_mode_enabled() -> bool:
    """Return whether a mode overrides calls."""
    return bool(state.modes) and state.everything


__getattr__ = _mentioned.names_of(__name__)
