# SPDX-License-Identifier: MIT
"""Layers that apply an elementwise function."""
