# SPDX-License-Identifier: MIT
"""What depends on an order of elements: sorting, searching, scans."""
