# SPDX-License-Identifier: MIT
"""Programs: flat lists of kernel calls over slots of memory, and their executors."""
