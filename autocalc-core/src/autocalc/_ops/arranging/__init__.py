# SPDX-License-Identifier: MIT
"""Operators that join, repeat and rearrange tensors, and their diagonals."""
