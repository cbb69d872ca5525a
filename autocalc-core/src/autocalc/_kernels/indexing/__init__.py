# SPDX-License-Identifier: MIT
"""Kernels that read or write at indices.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
