# SPDX-License-Identifier: MIT
"""PyTorch's place for `Parameter`, `Buffer`, and those without a shape."""

from autocalc.nn._buffer import Buffer
from autocalc.nn._parameter import Parameter
from autocalc.nn._uninitialized import (
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "is_lazy",
]
