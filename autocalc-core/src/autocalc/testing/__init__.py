# SPDX-License-Identifier: MIT
"""Tests of operators and kernels: gradient checks, comparisons and conformance."""

from __future__ import annotations

from autocalc.autograd._gradcheck import GradcheckError, gradcheck, gradgradcheck
from autocalc.testing._close import assert_close
from autocalc.testing._compare_kernels import compare_kernels
from autocalc.testing._comparison import Compared, Comparison

__all__ = [
    "Compared",
    "Comparison",
    "GradcheckError",
    "assert_close",
    "compare_kernels",
    "gradcheck",
    "gradgradcheck",
]
