# SPDX-License-Identifier: MIT
"""Nodes and the backward pass; independent of operators."""
