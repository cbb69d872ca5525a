# SPDX-License-Identifier: MIT
"""Locks: run the same kernels again, checked by version and file."""
