# SPDX-License-Identifier: MIT
"""What the array libraries of devices without hardware have in common."""

from __future__ import annotations

from typing import Any


class WithoutWork:
    """A library whose calls have ended when they return, without memory of its own."""

    xp: Any = None

    def count(self) -> int:
        """Return 1."""
        return 1

    def pin(self, array: Any) -> Any:
        """Return the array itself."""
        return array

    def is_pinned(self, array: Any) -> bool:  # noqa: ARG002  nothing is pinned
        """Return False."""
        return False

    def synchronize(self) -> None:
        """Do nothing, because no work is pending."""

    def stats(self) -> dict[str, int]:
        """Return statistics that say that no memory of a device is used."""
        return {"in_use": 0, "peak": 0, "cached": 0}

    def trim(self) -> None:
        """Do nothing."""
