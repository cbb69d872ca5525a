# SPDX-License-Identifier: MIT
"""`torch.overrides`: what libraries ask of values; no class takes calls over."""

from __future__ import annotations

from typing import Any

from autocalc import Tensor
from autocalc.torch import _mentioned


def has_torch_function(relevant_args: Any) -> bool:
    """Return False: AutoCalc does not support ``__torch_function__``."""
    return False


has_torch_function_unary = has_torch_function


def has_torch_function_variadic(*args: Any) -> bool:
    """Return False: AutoCalc does not support ``__torch_function__``."""
    return False


def is_tensor_like(inp: Any) -> bool:
    """Return whether a value is a tensor."""
    return isinstance(inp, Tensor)


__getattr__ = _mentioned.names_of(__name__)
