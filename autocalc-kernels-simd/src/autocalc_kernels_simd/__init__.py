# SPDX-License-Identifier: MIT
"""SIMD kernels for AutoCalc."""
