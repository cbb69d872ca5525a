# SPDX-License-Identifier: MIT
"""Advice by the time that reaching the machine's peak performance would save."""

from __future__ import annotations

from typing import NamedTuple

from autocalc.profiler._rows import Row, totals
from autocalc.profiler._table import milliseconds

#: Savings below this share of a step are not reported.
LEAST = 0.02

#: The share of Python time from which `ac.compile` is recommended.
MUCH_PYTHON = 0.1


class Saving(NamedTuple):
    """One suggestion: what to do, how many seconds of a step it saves, and why.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.profiler.Saving("gemm", 0.002, 0.25, "gemm: run it at the roof").share
    0.25
    """

    name: str
    seconds: float
    share: float
    text: str


class Advice:
    """Suggestions for making a program faster; `str` returns them as text.

    Attributes
    ----------
    savings
        The suggestions with the time that each would save, the largest first.
    notes
        Further remarks, each a sentence.

    Examples
    --------
    >>> import autocalc as ac
    >>> saving = ac.profiler.Saving("gemm", 0.002, 0.25, "gemm: run it at the roof")
    >>> print(ac.profiler.Advice([saving], []))
    What would help most:
    1. gemm: run it at the roof
    """

    def __init__(self, savings: list[Saving], notes: list[str]) -> None:
        self.savings = savings
        self.notes = notes

    def __repr__(self) -> str:
        return f"<advice: {len(self.savings)} savings>"

    def __str__(self) -> str:
        lines = ["What would help most:"]
        lines += [f"{i}. {one.text}" for i, one in enumerate(self.savings, 1)]
        if not self.savings:
            lines.append("nothing that would save a fiftieth of a step.")
        return "\n".join([*lines, *self.notes])


def advice_of(
    rows: list[Row], steps: int, notes: list[str], *, compiled: bool
) -> Advice:
    """Rank the kernels of a table, and Python, by the time that each would save."""
    kernels, python = totals(rows)
    whole = kernels + python
    found = [_of_kernel(row, steps, whole) for row in rows if row.saved]
    share = python / whole if whole else 0.0
    if kernels and share >= MUCH_PYTHON and not compiled:
        found.append(_of_python(python / steps, share))
    found = [one for one in found if one.share >= LEAST]
    return Advice(sorted(found, key=lambda one: -one.seconds), notes)


def _of_kernel(row: Row, steps: int, whole: float) -> Saving:
    assert row.saved is not None
    assert row.roof is not None
    seconds, share = row.saved / steps, row.saved / whole
    took = row.self_time / steps
    limit = "moves bytes" if row.bound == "memory" else "computes"
    text = (
        f"{row.name} ({row.chosen}): {milliseconds(took)} ms of a step, at the roof "
        f"{milliseconds(took - seconds)}; that would save {milliseconds(seconds)} ms "
        f"({share:.0%}). It {limit} at {row.roof:.0%} of what this machine can."
    )
    return Saving(row.name, seconds, share, text)


def _of_python(seconds: float, share: float) -> Saving:
    text = (
        f"Python around the kernels: {milliseconds(seconds)} ms of a step "
        f"({share:.0%}). ac.compile replays steps without it; larger batches have "
        f"less of it for each sample."
    )
    return Saving("Python", seconds, share, text)
