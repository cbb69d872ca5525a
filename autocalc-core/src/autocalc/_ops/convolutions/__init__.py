# SPDX-License-Identifier: MIT
"""Convolutions, windows of images and padding."""
