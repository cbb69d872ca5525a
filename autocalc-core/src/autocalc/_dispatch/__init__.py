# SPDX-License-Identifier: MIT
"""Chooses the implementation of a kernel that runs, and explains the choice."""
