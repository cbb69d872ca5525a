# SPDX-License-Identifier: MIT
"""Functions that set the initial values of parameters, in place."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc._tensor import Tensor as _Tensor
from autocalc.errors import ArgumentError as _ArgumentError
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
from autocalc.nn._init import fans as _fans
from autocalc.nn._init_matrices import dirac_, orthogonal_, sparse_
from autocalc.nn._old_names import (
    constant,
    dirac,
    eye,
    kaiming_normal,
    kaiming_uniform,
    normal,
    orthogonal,
    sparse,
    uniform,
    xavier_normal,
    xavier_uniform,
)

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]


def _calculate_fan_in_and_fan_out(tensor: _Tensor) -> tuple[int, int]:
    return _fans("fan_in and fan_out", tensor)


def _calculate_correct_fan(tensor: _Tensor, mode: str) -> int:
    fans = dict(zip(("fan_in", "fan_out"), _fans("fan", tensor), strict=True))
    if mode not in fans:
        raise _ArgumentError(f"fan: `mode` is {mode!r}; use 'fan_in' or 'fan_out'.")
    return fans[mode]


if not _TYPE_CHECKING:  # type checkers know the names that exist
    __getattr__ = _lookup(__name__)
