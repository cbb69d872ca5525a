# SPDX-License-Identifier: MIT
"""Compare AutoCalc with a peer: ``python -m benchmarks.side_by_side --peer PYTHON``.

Both run in processes of their own, in turn, in many short rounds; what counts is the
median of the rounds' ratios (in brackets: the middle half of them), which other load on
the machine hardly moves. The last column compares the fastest round of each: what both
do in the machine's best moments.  ``--compile`` replays our side, with ``--module
autocalc`` against eager code.  ``--autocast`` computes in bfloat16: with ``--module
autocalc`` against float32, with ``--autocast-peer`` against the peer's bfloat16.
``--zoo`` compares whole models (`benchmarks.zoo`); ``--module onnxruntime`` against
ONNX Runtime, whose environment needs PyTorch, onnx and onnxscript, too: the rows of
inference.  ``--module jax`` jits the steps of MLPs and transformers.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from benchmarks.peers import Peer, pair
from benchmarks.side_by_side.cases import AUTOCAST, CASES, COMPILED, Case
from benchmarks.zoo.rows import ZOO

MODULE = "benchmarks.side_by_side.cases"


def shown(case: Case, seconds: float) -> float:
    """Return a time in the unit of its case."""
    if case.unit == "GFLOP/s":
        return case.per / seconds / 1e9
    return seconds / case.per


def compare(ours: Peer, theirs: Peer, name: str, rounds: int) -> float:
    """Run one case in turn; print its row and return how much faster we are."""
    case = CASES[name]
    for peer in (ours, theirs):
        peer.seconds(name, 2 * case.calls)
    pairs = [
        (ours.seconds(name, case.calls), theirs.seconds(name, case.calls))
        for _ in range(rounds)
    ]
    mine, other = zip(*pairs, strict=True)
    low, ratio, high = statistics.quantiles(b / a for a, b in pairs)
    print(
        f"{name:44} {shown(case, statistics.median(mine)):9.2f} "
        f"{shown(case, statistics.median(other)):9.2f} {case.unit:8} {ratio:6.2f}x   "
        f"({low:.2f} to {high:.2f}) {min(other) / min(mine):7.2f}x"
    )
    return ratio


def selected(parts: list[str], zoo: bool) -> list[str]:
    """Return the cases that a command line names."""
    if parts:
        among = ZOO if zoo else CASES
        return [name for name in among if any(part in name for part in parts)]
    return [name for name in CASES if (name in ZOO) == zoo]


def _named(module: str, autocast: bool, compiled: bool) -> str:
    return module + AUTOCAST * autocast + COMPILED * compiled


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
    parser.add_argument(
        "--peer-env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a variable for the peer alone, say LD_PRELOAD=libjemalloc.so.2",
    )
    parser.add_argument(
        "--compile", action="store_true", help="replay our side by ac.compile"
    )
    parser.add_argument(
        "--compile-peer", action="store_true", help="the same by the peer's compile"
    )
    parser.add_argument(
        "--autocast", action="store_true", help="compute in bfloat16 on our side"
    )
    parser.add_argument(
        "--autocast-peer", action="store_true", help="the same on the peer's side"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument(
        "--zoo", action="store_true", help="the zoo of models, whole or the rows named"
    )
    parser.add_argument(
        "cases", nargs="*", help="parts of names; by default all but the zoo's"
    )
    options = parser.parse_args()
    names = selected(options.cases, options.zoo)
    if not names:
        known = ", ".join(ZOO if options.zoo else CASES)
        parser.error(f"no case matches {options.cases}; there are: {known}")
    variables = dict(each.split("=", 1) for each in options.peer_env)
    own = sys.executable, _named("autocalc", options.autocast, options.compile)
    theirs = _named(options.module, options.autocast_peer, options.compile_peer)
    peer = options.peer, theirs
    with pair(MODULE, own, peer, options.threads, variables) as (mine, other):
        print(f"{mine.title} against {other.title}, {options.threads} threads")
        print(
            f"{'case':44} {'ours':>9} {'theirs':>9} {'':8} {'faster':>7}"
            f"{'':18} {'at best':>8}"
        )
        for name in names:
            compare(mine, other, name, options.rounds)


if __name__ == "__main__":
    main()
