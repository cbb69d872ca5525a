# SPDX-License-Identifier: MIT
"""Convolution, its gradients, and the unfolding of windows to columns.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
