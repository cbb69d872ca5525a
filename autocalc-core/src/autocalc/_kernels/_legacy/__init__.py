# SPDX-License-Identifier: MIT
"""Kernels that still stand in several files; each moves to its family's folder."""
