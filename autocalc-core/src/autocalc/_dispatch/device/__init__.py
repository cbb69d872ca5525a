# SPDX-License-Identifier: MIT
"""Arrays on other devices, and where arrays are in memory."""
