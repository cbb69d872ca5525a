# SPDX-License-Identifier: MIT
"""PyTorch's place for operators of one's own."""

from autocalc.autograd import Function, once_differentiable

__all__ = ["Function", "once_differentiable"]
