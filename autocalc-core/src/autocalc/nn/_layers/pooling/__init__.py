# SPDX-License-Identifier: MIT
"""Pooling layers."""
