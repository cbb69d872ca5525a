# SPDX-License-Identifier: MIT
"""Convolution, its gradients, and windows as columns.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
