# SPDX-License-Identifier: MIT
"""Normalisation layers."""
