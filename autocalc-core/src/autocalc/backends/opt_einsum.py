# SPDX-License-Identifier: MIT
"""opt_einsum, which is not used: `einsum` chooses its order by itself."""

from __future__ import annotations

__all__ = ["enabled", "is_available", "strategy"]

#: Accepted, without effect.
enabled = False

#: Accepted, without effect.
strategy: str | None = None


def is_available() -> bool:
    """Return False: AutoCalc does not use opt_einsum."""
    return False
