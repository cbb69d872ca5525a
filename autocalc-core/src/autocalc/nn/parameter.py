# SPDX-License-Identifier: MIT
"""PyTorch's place for `Parameter`."""

from autocalc.nn._parameter import Parameter

__all__ = ["Parameter"]
