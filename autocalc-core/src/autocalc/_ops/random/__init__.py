# SPDX-License-Identifier: MIT
"""Random numbers, and functions that draw them."""
