# SPDX-License-Identifier: MIT
"""Normalisations, a kernel and its backward kernel a file.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
