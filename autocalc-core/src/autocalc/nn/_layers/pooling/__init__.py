# SPDX-License-Identifier: MIT
"""Layers that pool windows."""
