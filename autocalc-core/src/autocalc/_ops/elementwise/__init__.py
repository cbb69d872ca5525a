# SPDX-License-Identifier: MIT
"""Functions of each element: arithmetic, comparison, exponentials."""
