# SPDX-License-Identifier: MIT
"""What proves operators and kernels: gradient checks, comparisons, conformance."""

from __future__ import annotations

from autocalc.autograd._gradcheck import GradcheckError, gradcheck, gradgradcheck
from autocalc.testing._close import assert_close

__all__ = ["GradcheckError", "assert_close", "gradcheck", "gradgradcheck"]
