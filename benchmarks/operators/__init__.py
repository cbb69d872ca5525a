# SPDX-License-Identifier: MIT
"""Every public operator against a peer's, on operands of a given size."""
