# SPDX-License-Identifier: MIT
"""Kernels for dual arrays: forward derivatives, most of them from backward rules."""
