# SPDX-License-Identifier: MIT
"""Elementwise kernels, with one file for each kind of function.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
