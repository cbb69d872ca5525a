# SPDX-License-Identifier: MIT
"""Layers that convolve, and that pad."""
