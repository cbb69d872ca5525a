# SPDX-License-Identifier: MIT
"""PyTorch's place for draws that count as one event."""

from autocalc.distributions import Independent

__all__ = ["Independent"]
