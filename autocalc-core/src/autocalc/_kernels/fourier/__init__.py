# SPDX-License-Identifier: MIT
"""Discrete Fourier transforms."""
