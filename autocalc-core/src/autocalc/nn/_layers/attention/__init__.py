# SPDX-License-Identifier: MIT
"""Attention and transformers."""
