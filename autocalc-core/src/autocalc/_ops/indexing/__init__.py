# SPDX-License-Identifier: MIT
"""Elements read and written by index or by mask."""
