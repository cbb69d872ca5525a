# SPDX-License-Identifier: MIT
"""Functions that depend on the order of elements: sorting, searching, scans."""
