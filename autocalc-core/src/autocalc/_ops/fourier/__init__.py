# SPDX-License-Identifier: MIT
"""Fourier transforms of tensors."""
