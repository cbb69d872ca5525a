# SPDX-License-Identifier: MIT
"""The record of what was computed, and the walk back through it."""
