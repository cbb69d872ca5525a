# SPDX-License-Identifier: MIT
"""The one place of the version."""

__version__ = "0.1.0"
