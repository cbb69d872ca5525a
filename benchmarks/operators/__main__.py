# SPDX-License-Identifier: MIT
"""Every operator against a peer: ``python -m benchmarks.operators --peer PYTHON``.

Operands are square matrices of `--elements` numbers.  Each row is a call, and, where
the result has a gradient, the call with its backward pass.  Both peers run in processes
of their own, in turn; a row's figure is the median of the rounds' ratios.  Rows under
`--under` are printed, then how many there are and the geometric mean of all.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from typing import NamedTuple

from benchmarks.operators.cases import ROWS, WALK
from benchmarks.peers import Peer, pair

MODULE = "benchmarks.operators.cases"
#: Seconds that a peer's turn takes, at least.
TURN = 0.004
MOST_CALLS = 2000


class Row(NamedTuple):
    """A row's name, the microseconds of both, and how much faster ours is."""

    name: str
    ours: float
    theirs: float
    faster: float

    def __str__(self) -> str:
        times = f"{self.ours:10.2f} {self.theirs:10.2f} us"
        return f"{self.name:50} {times} {self.faster:6.2f}x"


def compare(ours: Peer, theirs: Peer, name: str, case: str, rounds: int) -> Row | None:
    """Run a row in turn; None if a peer has no such thing."""
    probe = [peer.seconds(case, 3) for peer in (ours, theirs)]
    if any(map(math.isnan, probe)):
        return None
    calls = [max(3, min(MOST_CALLS, round(TURN / seconds))) for seconds in probe]
    pairs = [
        (ours.seconds(case, calls[0]), theirs.seconds(case, calls[1]))
        for _ in range(rounds)
    ]
    mine, other = (
        statistics.median(column) * 1e6 for column in zip(*pairs, strict=True)
    )
    return Row(name, mine, other, statistics.median(b / a for a, b in pairs))


def summary(rows: list[Row]) -> str:
    """Return the closing line of a run."""
    slower = sum(row.faster < 1 for row in rows)
    least = min(rows, key=lambda row: row.faster)
    mean = statistics.geometric_mean(row.faster for row in rows)
    return (
        f"{len(rows)} rows, geometric mean {mean:.2f}, {slower} slower"
        f" ({slower / len(rows):.1%}), least {least.faster:.2f} ({least.name})"
    )


def main() -> None:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--module", default="torch", help="the peer's module")
    parser.add_argument("--elements", type=int, default=16, help="a square number")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--under", type=float, default=1.0, help="print rows below")
    parser.add_argument("rows", nargs="*", help="parts of names; by default all rows")
    options = parser.parse_args()
    wanted = [n for n in (*ROWS, *(WALK + n for n in ROWS)) if _named(n, options.rows)]
    if not wanted:
        parser.error(f"no row matches {options.rows}")
    if options.threads == 1 and hasattr(os, "sched_setaffinity"):
        # On a core of its own each, one of them may have a slower one.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows, absent = [], []
    own, peer = (sys.executable, "autocalc"), (options.peer, options.module)
    with pair(MODULE, own, peer, options.threads) as (ours, theirs):
        print(f"{ours.title} against {theirs.title}, {options.elements} elements")
        for name in wanted:
            case = f"{options.elements} {name}"
            row = compare(ours, theirs, name, case, options.rounds)
            if row is None:
                absent.append(name)
                continue
            rows.append(row)
            if row.faster < options.under or options.rows:
                print(row, flush=True)
    print(
        "not compared:",
        ", ".join(n for n in absent if not n.startswith(WALK)) or "none",
    )
    print(summary(rows))


def _named(name: str, parts: list[str]) -> bool:
    return not parts or any(part in name for part in parts)


if __name__ == "__main__":
    main()
