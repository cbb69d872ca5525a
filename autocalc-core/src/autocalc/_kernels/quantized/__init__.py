# SPDX-License-Identifier: MIT
"""Kernels on weights of 8 and 4 bits, packed in groups with a scale each."""
