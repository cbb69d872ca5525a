# SPDX-License-Identifier: MIT
"""Kernels for batched arrays, made from one rule for each kernel."""
