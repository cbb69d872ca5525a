# SPDX-License-Identifier: MIT
"""Convolution and padding layers."""
