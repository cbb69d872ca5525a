# SPDX-License-Identifier: MIT
"""The maximum and the mean over windows.

It imports the infrastructure of `_kernels` and other families, but never the
dispatcher.
"""
