# SPDX-License-Identifier: MIT
"""Parametrizations: parameters that are computed from others at each access."""

from autocalc.nn.utils._parametrize import (
    ParametrizationList,
    cached,
    is_parametrized,
    register_parametrization,
    remove_parametrizations,
    type_before_parametrizations,
)

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]
