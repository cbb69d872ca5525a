# SPDX-License-Identifier: MIT
"""The CPU, its cores, and files kept for this machine."""
