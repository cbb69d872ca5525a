# SPDX-License-Identifier: MIT
"""Attention and position embeddings."""
