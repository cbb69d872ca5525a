# SPDX-License-Identifier: MIT
"""Compare transforms with a peer: ``python -m benchmarks.transforms --peer PYTHON``.

Both run in processes of their own, in turn, in many short rounds; what counts is the
median of the rounds' ratios (in brackets: the middle half of them).  ``--compile``
replays our side by `ac.compile`.  ``--module jax`` compares with JAX, jitted.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

from benchmarks.peers import Peer, pair
from benchmarks.transforms.cases import CASES, COMPILED

MODULE = "benchmarks.transforms.cases"


def compare(ours: Peer, theirs: Peer, name: str, rounds: int) -> float:
    """Run one row in turn; print it and return how much faster we are."""
    calls = CASES[name].calls
    for peer in (ours, theirs):
        peer.seconds(name, 2 * calls)
    pairs = [
        (ours.seconds(name, calls), theirs.seconds(name, calls)) for _ in range(rounds)
    ]
    mine, other = (1e3 * statistics.median(x) for x in zip(*pairs, strict=True))
    low, ratio, high = statistics.quantiles(b / a for a, b in pairs)
    print(
        f"{name:44} {mine:8.2f} {other:8.2f} ms {ratio:6.2f}x   "
        f"({low:.2f} to {high:.2f})",
        flush=True,
    )
    return ratio


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").replace("``", ""))
    parser.add_argument(
        "--peer",
        default=sys.executable,
        metavar="PYTHON",
        help="the interpreter of the environment that has the peer",
    )
    parser.add_argument("--module", default="torch", help="the peer: torch or jax")
    parser.add_argument("--compile", action="store_true", help="replay our side")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("rows", nargs="*", help="parts of names; by default all rows")
    options = parser.parse_args()
    names = [
        name
        for name in CASES
        if not options.rows or any(part in name for part in options.rows)
    ]
    if not names:
        parser.error(f"no row matches {options.rows}; there are: {', '.join(CASES)}")
    own = sys.executable, "autocalc" + COMPILED * options.compile
    with pair(MODULE, own, (options.peer, options.module), options.threads) as both:
        print(f"{both[0].title} against {both[1].title}, {options.threads} threads")
        ratios = [compare(*both, name, options.rounds) for name in names]
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f}x")


if __name__ == "__main__":
    main()
