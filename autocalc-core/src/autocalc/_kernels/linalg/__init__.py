# SPDX-License-Identifier: MIT
"""Matrix factorisations, inverses and determinants.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
