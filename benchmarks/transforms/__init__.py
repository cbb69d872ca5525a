# SPDX-License-Identifier: MIT
"""Transforms of functions, compared with `torch.func` and JAX."""
