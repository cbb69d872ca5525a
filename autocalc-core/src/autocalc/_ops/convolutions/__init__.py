# SPDX-License-Identifier: MIT
"""Convolutions, and windows and borders of images."""
