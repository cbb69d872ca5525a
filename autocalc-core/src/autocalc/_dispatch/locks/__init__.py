# SPDX-License-Identifier: MIT
"""Locks: the same kernels again, checked by version and file."""
