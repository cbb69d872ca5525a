# SPDX-License-Identifier: MIT
"""Arrays on other devices, and the addresses of arrays in memory."""
