# SPDX-License-Identifier: MIT
"""SIMD kernels, thread pool and allocator for AutoCalc."""
