# SPDX-License-Identifier: MIT
"""Sums, means, extrema, variances and softmax over dimensions."""
