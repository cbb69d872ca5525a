# SPDX-License-Identifier: MIT
"""Normalisations; each file has a kernel and its backward kernel.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
