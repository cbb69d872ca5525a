# SPDX-License-Identifier: MIT
"""The files in which Linux tells of the machine and of this process."""

from __future__ import annotations

from pathlib import Path


class Machine:
    """Reads ``/proc`` and ``/sys``; on other systems there is nothing to read.

    Parameters
    ----------
    root
        The folder that holds ``proc`` and ``sys``.
    """

    def __init__(self, root: str | Path = "/") -> None:
        self.root = Path(root)

    def read(self, path: str) -> str | None:
        """Return a file's text, None where there is no such file."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """Return the whole number that a file holds."""
        text = (self.read(path) or "").strip()
        return int(text) if text.isdecimal() else None

    def field(self, path: str, name: str) -> int | None:
        """Return the number after ``name:`` in a file such as ``/proc/meminfo``."""
        for line in (self.read(path) or "").splitlines():
            key, _, value = line.partition(":")
            words = value.split()
            if key == name and words and words[0].isdecimal():
                return int(words[0])
        return None


def numbers(text: str) -> set[int]:
    """Return the numbers of a list such as ``0-3,8,10-11``."""
    found: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first.isdecimal():
            found |= set(range(int(first), int(last or first) + 1))
    return found
