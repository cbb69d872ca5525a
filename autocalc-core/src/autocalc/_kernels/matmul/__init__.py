# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
