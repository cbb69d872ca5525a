# SPDX-License-Identifier: MIT
"""Optimizer steps over groups of parameters.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
