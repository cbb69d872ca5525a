# SPDX-License-Identifier: MIT
"""Recurrent networks, their cells, and packed sequences."""
