# SPDX-License-Identifier: MIT
"""Answers to the question which kernel runs, and why."""
