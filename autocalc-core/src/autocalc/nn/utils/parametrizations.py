# SPDX-License-Identifier: MIT
"""Parametrizations: weight norm, spectral norm and orthogonal matrices."""

from autocalc.nn.utils._orthogonal import orthogonal
from autocalc.nn.utils._parametrizations import spectral_norm, weight_norm

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
