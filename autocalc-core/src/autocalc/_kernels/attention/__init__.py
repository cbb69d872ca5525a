# SPDX-License-Identifier: MIT
"""Scaled dot-product attention and rotary embeddings.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
