# SPDX-License-Identifier: MIT
"""Functions that depend on an order of elements: sorting, searching, scans."""
