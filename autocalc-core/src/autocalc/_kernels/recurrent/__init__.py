# SPDX-License-Identifier: MIT
"""Recurrent layers over whole sequences.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
