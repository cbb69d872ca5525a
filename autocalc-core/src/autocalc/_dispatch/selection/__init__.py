# SPDX-License-Identifier: MIT
"""Chooses the kernel set that runs a call, and runs the call."""
