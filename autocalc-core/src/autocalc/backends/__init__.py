# SPDX-License-Identifier: MIT
"""Switches of backends that AutoCalc does not have, so that programs can set them.

They are accepted and have no effect.  What they mean for CPUs has other names:
`autocalc.use_deterministic_algorithms` and `autocalc.kernels`.
"""

from __future__ import annotations

from autocalc.backends import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
