# SPDX-License-Identifier: MIT
"""Operators that show the same elements in another shape, order or dtype."""
