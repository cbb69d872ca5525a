# SPDX-License-Identifier: MIT
"""Explanations of which kernel runs, and why."""
