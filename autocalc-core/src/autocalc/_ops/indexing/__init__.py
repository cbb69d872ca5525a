# SPDX-License-Identifier: MIT
"""Operators that read and write elements by index or by mask."""
