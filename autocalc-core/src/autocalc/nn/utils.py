# SPDX-License-Identifier: MIT
"""What is done with parameters and gradients between two steps."""

from autocalc.nn._clip import clip_grad_norm_, clip_grad_value_

__all__ = ["clip_grad_norm_", "clip_grad_value_"]
