# SPDX-License-Identifier: MIT
"""Weights of a given length, of a given norm, and with orthogonal rows or columns."""

from autocalc.nn.utils._orthogonal import orthogonal
from autocalc.nn.utils._parametrizations import spectral_norm, weight_norm

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
