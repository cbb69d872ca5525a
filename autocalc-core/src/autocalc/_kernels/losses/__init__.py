# SPDX-License-Identifier: MIT
"""Losses whose forward kernel also computes the gradient.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
