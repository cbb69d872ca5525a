# SPDX-License-Identifier: MIT
"""Scaled dot-product attention and rotary embeddings.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
