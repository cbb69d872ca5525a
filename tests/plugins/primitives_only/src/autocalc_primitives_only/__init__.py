# SPDX-License-Identifier: MIT
"""What a backend for a new device must have: the primitives, in one file."""
