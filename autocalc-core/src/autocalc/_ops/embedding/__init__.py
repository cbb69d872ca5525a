# SPDX-License-Identifier: MIT
"""Rows of a table selected by index, one by one and in bags."""
