# SPDX-License-Identifier: MIT
"""Modules that hold modules or parameters."""
