# SPDX-License-Identifier: MIT
"""Operators that resize and sample images."""
