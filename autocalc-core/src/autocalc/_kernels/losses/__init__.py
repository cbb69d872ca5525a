# SPDX-License-Identifier: MIT
"""Losses whose forward kernel also computes the gradient.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
