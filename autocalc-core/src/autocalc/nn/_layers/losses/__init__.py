# SPDX-License-Identifier: MIT
"""Losses as layers."""
