# SPDX-License-Identifier: MIT
"""Activations and their backward kernels.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
