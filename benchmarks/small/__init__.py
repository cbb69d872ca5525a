# SPDX-License-Identifier: MIT
"""Calls on 16 elements, whose cost is that of everything around the kernels."""
