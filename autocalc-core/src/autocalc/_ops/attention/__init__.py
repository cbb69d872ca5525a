# SPDX-License-Identifier: MIT
"""Attention and the embedding of positions."""
