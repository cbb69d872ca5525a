# SPDX-License-Identifier: MIT
"""Complex tensors: their parts, conjugates, angles, and how they are made."""
