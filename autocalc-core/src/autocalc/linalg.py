# SPDX-License-Identifier: MIT
"""Linear algebra: norms."""

from __future__ import annotations

from autocalc._functional.magnitudes import linalg_norm as norm
from autocalc._functional.magnitudes import matrix_norm, vector_norm

__all__ = ["matrix_norm", "norm", "vector_norm"]
