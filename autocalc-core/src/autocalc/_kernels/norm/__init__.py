# SPDX-License-Identifier: MIT
"""Normalisations; each file has a kernel and its backward kernel.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
