# SPDX-License-Identifier: MIT
"""Compare AutoCalc with a peer: ``python -m benchmarks.side_by_side --peer PYTHON``.

Both run in processes of their own, in turn, round by round; what counts is the median
of the rounds' ratios, which other load on the machine hardly moves.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from contextlib import ExitStack

from benchmarks.peers import BOUND, Peer, started, worker
from benchmarks.side_by_side.cases import CASES, Case

MODULE = "benchmarks.side_by_side.cases"


def shown(case: Case, seconds: float) -> float:
    """Return a time in the unit of its case."""
    if case.unit == "GFLOP/s":
        return case.per / seconds / 1e9
    return seconds / case.per


def compare(ours: Peer, theirs: Peer, name: str, rounds: int) -> float:
    """Run one case in turn; print its row and return how much faster we are."""
    case = CASES[name]
    calls = case.calls
    for peer in (ours, theirs):
        peer.seconds(name, max(1, calls // 2))
    pairs = [
        (ours.seconds(name, calls), theirs.seconds(name, calls)) for _ in range(rounds)
    ]
    ratios = sorted(b / a for a, b in pairs)
    ratio = statistics.median(ratios)
    mine, other = (
        shown(case, statistics.median(times)) for times in zip(*pairs, strict=True)
    )
    print(
        f"{name:34} {mine:9.2f} {other:9.2f} {case.unit:8} {ratio:6.2f}x   "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )
    return ratio


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peer",
        default=sys.executable,
        metavar="PYTHON",
        help="the interpreter of the environment that has the peer",
    )
    parser.add_argument("--module", default="torch", help="the peer's module")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("cases", nargs="*", help="parts of names; all by default")
    options = parser.parse_args()
    parts = options.cases or [""]
    names = [name for name in CASES if any(part in name for part in parts)]
    if not names:
        parser.error(f"no case matches; there are: {', '.join(CASES)}")
    with ExitStack() as stack:
        variables = {**os.environ, **BOUND}
        ours, theirs = (
            stack.enter_context(
                started(worker(python, MODULE, peer, options.threads), variables)
            )
            for python, peer in (
                (sys.executable, "autocalc"),
                (options.peer, options.module),
            )
        )
        print(f"{ours.title} beside {theirs.title}, {options.threads} threads")
        print(f"{'case':34} {'ours':>9} {'theirs':>9} {'':8} {'faster':>7}")
        for name in names:
            compare(ours, theirs, name, options.rounds)


if __name__ == "__main__":
    main()
