# SPDX-License-Identifier: MIT
"""Layers that normalise."""
