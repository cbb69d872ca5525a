# SPDX-License-Identifier: MIT
"""Resampling along one dimension.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
