# SPDX-License-Identifier: MIT
"""Switches of backends that AutoCalc does not have, so that programs can set them.

They are accepted and have no effect.  What they mean for CPUs has other names:
`autocalc.use_deterministic_algorithms` and `autocalc.kernels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
