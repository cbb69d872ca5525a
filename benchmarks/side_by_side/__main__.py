# SPDX-License-Identifier: MIT
"""Compare AutoCalc with a peer: ``python -m benchmarks.side_by_side --peer PYTHON``.

Both run in processes of their own, in turn, round by round; what counts is the median
of the rounds' ratios, which other load on the machine hardly moves.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.side_by_side.cases import CASES, Case

ROOT = Path(__file__).parents[2]


class Peer:
    """A worker process and its pipes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.name = self._answer()

    def seconds(self, case: str) -> float:
        """Let the worker run one round of a case."""
        assert self.process.stdin is not None
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            message = "side_by_side: a worker ended before it answered; see above."
            raise SystemExit(message)
        return line.strip()


@contextmanager
def started(python: str, module: str, threads: int) -> Iterator[Peer]:
    """Start a worker; end it with the block."""
    worker = "benchmarks.side_by_side.worker"
    command = [python, "-m", worker, module, str(threads)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT
    ) as process:
        yield Peer(process)
        assert process.stdin is not None
        process.stdin.close()


def shown(case: Case, seconds: float) -> float:
    """Return a time in the unit of its case."""
    if case.unit == "GFLOP/s":
        return case.per / seconds / 1e9
    return seconds / case.per


def compare(ours: Peer, theirs: Peer, name: str, rounds: int) -> float:
    """Run one case in turn; print its row and return how much faster we are."""
    case = CASES[name]
    pairs = [(ours.seconds(name), theirs.seconds(name)) for _ in range(rounds)]
    ratios = sorted(b / a for a, b in pairs)
    ratio = statistics.median(ratios)
    mine, peer = (
        shown(case, statistics.median(times)) for times in zip(*pairs, strict=True)
    )
    print(
        f"{name:34} {mine:9.2f} {peer:9.2f} {case.unit:8} {ratio:6.2f}x   "
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
        start = stack.enter_context
        ours = start(started(sys.executable, "autocalc", options.threads))
        theirs = start(started(options.peer, options.module, options.threads))
        print(f"{ours.name} beside {theirs.name}, {options.threads} threads")
        print(f"{'case':34} {'ours':>9} {'theirs':>9} {'':8} {'faster':>7}")
        for name in names:
            compare(ours, theirs, name, options.rounds)


if __name__ == "__main__":
    main()
