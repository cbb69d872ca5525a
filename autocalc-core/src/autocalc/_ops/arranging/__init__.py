# SPDX-License-Identifier: MIT
"""Tensors joined, repeated and rearranged, and their diagonals."""
