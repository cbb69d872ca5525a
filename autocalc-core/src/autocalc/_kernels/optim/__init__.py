# SPDX-License-Identifier: MIT
"""Optimizer steps over groups of parameters.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
