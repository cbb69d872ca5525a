# SPDX-License-Identifier: MIT
"""Normalisations, one kernel and its backward kernel a file."""
