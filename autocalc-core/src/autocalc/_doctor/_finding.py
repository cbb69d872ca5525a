# SPDX-License-Identifier: MIT
"""The finding of a check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from autocalc.errors import ArgumentError

Level = Literal["ok", "note", "warning", "error"]

#: From what is as it should be to what gives wrong results.
LEVELS: tuple[Level, ...] = ("ok", "note", "warning", "error")

#: Exit codes; 1 and 2 are those of every command: it failed, it was misused.
EXIT_CODES: dict[Level, int] = {"ok": 0, "note": 0, "warning": 3, "error": 4}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    level
        ``"ok"``; ``"note"``: to know, there may be nothing to do; ``"warning"``: it
        costs time or memory, or is probably not meant; ``"error"``: results are wrong.
    subject
        The thing that was examined, in a word or two.
    text
        A sentence that says what was found.
    remedy
        A sentence that says what to do; empty if nothing is to be done.
    """

    level: Level
    subject: str
    text: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            message = f"Finding: `level` is {self.level!r}; use {', '.join(LEVELS)}."
            raise ArgumentError(message)


def worst(findings: Iterable[Finding]) -> Level:
    """Return the highest level; "ok" of no findings."""
    levels = [LEVELS.index(finding.level) for finding in findings]
    return LEVELS[max(levels, default=0)]
