# SPDX-License-Identifier: MIT
"""Losses whose forward kernel gives the gradient too.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
