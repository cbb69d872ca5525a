# SPDX-License-Identifier: MIT
"""The classes `Parameter` and `Buffer`, and their uninitialised forms."""

from autocalc.nn._module.buffer import Buffer
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.uninitialized import (
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
