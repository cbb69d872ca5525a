# SPDX-License-Identifier: MIT
"""Random numbers as functions of a seed and an offset.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
