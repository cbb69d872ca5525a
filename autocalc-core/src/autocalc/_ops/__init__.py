# SPDX-License-Identifier: MIT
"""Differentiable operators: forward and backward rule side by side."""
