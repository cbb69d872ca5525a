# SPDX-License-Identifier: MIT
"""The maximum and the mean over windows.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
