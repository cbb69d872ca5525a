# SPDX-License-Identifier: MIT
"""The version, in a place below everything that shows it."""

__version__ = "0.1.0"
