# SPDX-License-Identifier: MIT
"""Modules for training by several processes."""
