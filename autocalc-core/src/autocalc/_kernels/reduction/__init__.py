# SPDX-License-Identifier: MIT
"""Reductions, scans, sorting and softmax.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
