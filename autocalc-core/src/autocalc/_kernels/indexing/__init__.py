# SPDX-License-Identifier: MIT
"""Kernels that read or write at indices.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
