# SPDX-License-Identifier: MIT
"""Nodes and the backward walk; knows no operator."""
