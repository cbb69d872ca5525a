# SPDX-License-Identifier: MIT
"""Elementwise kernels, with one file for each kind of function.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
