# SPDX-License-Identifier: MIT
"""Every public operator beside a peer's, on operands of a given size."""
