# SPDX-License-Identifier: MIT
"""The memory that the process uses."""

from __future__ import annotations

import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")


def resident_bytes() -> int | None:
    """Return the resident memory; on macOS its maximum, elsewhere None if unknown."""
    if _STATM.exists():
        import resource

        pages = int(_STATM.read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return None


def in_megabytes(count: int | None) -> str:
    """Return ``"143 MB"``, or a question mark if the system does not report it."""
    return "? MB" if count is None else f"{count / 1e6:,.0f} MB"
