# SPDX-License-Identifier: MIT
"""Kernel packages: how they are found, checked and trusted."""
