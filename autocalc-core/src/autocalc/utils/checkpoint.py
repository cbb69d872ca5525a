# SPDX-License-Identifier: MIT
"""Less memory for more time: parts of a model that are computed twice."""

from autocalc.autograd._checkpoint import checkpoint, checkpoint_sequential

__all__ = ["checkpoint", "checkpoint_sequential"]
