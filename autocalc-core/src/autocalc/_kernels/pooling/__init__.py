# SPDX-License-Identifier: MIT
"""Maximum and mean over windows.

Imports the infrastructure of `_kernels` and other families, never the dispatcher.
"""
