# SPDX-License-Identifier: MIT
"""Losses and their reduction."""
