# SPDX-License-Identifier: MIT
"""Modules trained by several processes."""
