# SPDX-License-Identifier: MIT
"""Rows of a table by index, alone and in bags."""
