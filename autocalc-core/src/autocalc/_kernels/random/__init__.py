# SPDX-License-Identifier: MIT
"""Random numbers as functions of a seed and an offset.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
