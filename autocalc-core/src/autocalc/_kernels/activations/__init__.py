# SPDX-License-Identifier: MIT
"""Activations and their backward kernels.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
