# SPDX-License-Identifier: MIT
"""Layers that take their sizes from the first input."""
