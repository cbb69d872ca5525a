# SPDX-License-Identifier: MIT
"""Recurrent layers over whole sequences.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
