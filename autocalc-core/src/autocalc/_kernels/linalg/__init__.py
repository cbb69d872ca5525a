# SPDX-License-Identifier: MIT
"""Matrix factorisations, inverses and determinants.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
