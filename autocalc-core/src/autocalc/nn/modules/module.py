# SPDX-License-Identifier: MIT
"""PyTorch's place for `Module`."""

from autocalc.nn._module import Module

__all__ = ["Module"]
