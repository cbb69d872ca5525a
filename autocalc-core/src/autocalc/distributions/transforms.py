# SPDX-License-Identifier: MIT
"""Invertible functions, from which new distributions are made.

A transform is called like a function.  ``inv`` is the inverse transform.
``log_abs_det_jacobian(x, y)`` is the logarithm of the absolute value of the determinant
of the derivative.
"""

from __future__ import annotations

from autocalc.distributions._transform import Inverse, Transform
from autocalc.distributions._transforms_composed import (
    ComposeTransform,
    IndependentTransform,
    identity_transform,
)
from autocalc.distributions._transforms_joined import CatTransform, StackTransform
from autocalc.distributions._transforms_of_arrays import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    ReshapeTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from autocalc.distributions._transforms_of_numbers import (
    AbsTransform,
    AffineTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    sigmoid_inside,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "CatTransform",
    "ComposeTransform",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "ExpTransform",
    "IndependentTransform",
    "LowerCholeskyTransform",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "TanhTransform",
    "Transform",
    "identity_transform",
]

# Names of PyTorch that libraries import.
_InverseTransform, _clipped_sigmoid = Inverse, sigmoid_inside
