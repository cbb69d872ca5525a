# SPDX-License-Identifier: MIT
"""PyTorch's place for `Parameter` and for those without a shape."""

from autocalc.nn._parameter import Parameter
from autocalc.nn._uninitialized import (
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)

__all__ = ["Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]
