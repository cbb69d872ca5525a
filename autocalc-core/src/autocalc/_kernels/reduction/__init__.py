# SPDX-License-Identifier: MIT
"""Reductions, scans, sorting and softmax.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
