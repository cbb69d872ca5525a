# SPDX-License-Identifier: MIT
"""Kernel packages: finding, checking and trusting them."""
