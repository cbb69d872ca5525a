# SPDX-License-Identifier: MIT
"""Gradients: `backward`, `grad`, when operators record, and users' own operators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any

from autocalc._aliases import lookup as _lookup
from autocalc._graph._grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from autocalc._graph._node import live_node_count
from autocalc._tensor import Tensor
from autocalc._tensor import checks as _checks
from autocalc.autograd import functional
from autocalc.autograd._anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
    set_detect_anomaly,
)
from autocalc.autograd._function import Function, FunctionContext, once_differentiable
from autocalc.autograd._gradcheck import GradcheckError, gradcheck, gradgradcheck
from autocalc.autograd._gradients import backward, grad
from autocalc.errors import DTypeError

__all__ = [
    "Function",
    "FunctionContext",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "live_node_count",
    "no_grad",
    "once_differentiable",
    "set_anomaly_enabled",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def Variable(data: Any, requires_grad: bool = False) -> Tensor:
    """Return `data` itself: the old name for tensors that record gradients.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.autograd.Variable(ac.ones(1), requires_grad=True).requires_grad
    True
    """
    if not isinstance(data, Tensor):
        message = f"Variable: `data` is a {type(data).__name__}; it must be a tensor."
        raise DTypeError(message)
    _checks.check_flag("Variable", "requires_grad", requires_grad)
    tensor: Tensor = data.detach().requires_grad_() if requires_grad else data
    return tensor


_LATE = ("forward_ad", "graph")

if _TYPE_CHECKING:
    from autocalc.autograd import forward_ad, graph
else:  # a type checker knows the names that exist
    _missing = _lookup(__name__)

    def __getattr__(name: str) -> Any:
        if name in _LATE:  # each is a percent of all that is imported
            return import_module(f"autocalc.autograd.{name}")
        return _missing(name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *_LATE})
