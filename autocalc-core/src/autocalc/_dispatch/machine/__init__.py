# SPDX-License-Identifier: MIT
"""The CPU, its cores, and files stored for this machine."""
