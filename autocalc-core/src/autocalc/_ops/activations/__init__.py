# SPDX-License-Identifier: MIT
"""Activations, elementwise."""
