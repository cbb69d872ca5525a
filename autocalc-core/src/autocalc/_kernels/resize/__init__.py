# SPDX-License-Identifier: MIT
"""Resampling along one dimension.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
