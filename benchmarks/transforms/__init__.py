# SPDX-License-Identifier: MIT
"""Transforms of functions beside `torch.func` and JAX."""
