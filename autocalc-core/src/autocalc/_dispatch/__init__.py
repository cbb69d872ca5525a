# SPDX-License-Identifier: MIT
"""Which implementation of a kernel runs, and why."""
