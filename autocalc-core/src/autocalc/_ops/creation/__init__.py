# SPDX-License-Identifier: MIT
"""Tensors made of data, of constants and of ranges."""
