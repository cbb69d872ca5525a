# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
