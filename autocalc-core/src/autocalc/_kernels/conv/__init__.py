# SPDX-License-Identifier: MIT
"""Convolution, its gradients, and the unfolding of windows to columns.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
