# SPDX-License-Identifier: MIT
"""`torch.utils._python_dispatch`: a query about tensors that libraries use."""

from __future__ import annotations

from typing import Any

from autocalc.torch import _mentioned


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Return False: AutoCalc has no tensors that wrap other tensors."""
    return False


is_traceable_wrapper_subclass_type = is_traceable_wrapper_subclass

__getattr__ = _mentioned.names_of(__name__)
