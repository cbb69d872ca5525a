# SPDX-License-Identifier: MIT
"""Means and maxima over windows."""
