# SPDX-License-Identifier: MIT
"""Filling parameters before training."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._absent import lookup as _lookup
from autocalc.nn._init import (
    calculate_gain,
    constant_,
    eye_,
    kaiming_normal_,
    kaiming_uniform_,
    normal_,
    ones_,
    trunc_normal_,
    uniform_,
    xavier_normal_,
    xavier_uniform_,
    zeros_,
)
from autocalc.nn._init_matrices import dirac_, orthogonal_, sparse_

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
