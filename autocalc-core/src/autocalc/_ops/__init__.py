# SPDX-License-Identifier: MIT
"""Differentiable operators: the forward call and the backward rule side by side."""
