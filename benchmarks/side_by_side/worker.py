# SPDX-License-Identifier: MIT
"""One peer in a process of its own: reads a case's name, answers seconds per call.

A process waits on its pipe while the other works, so the peers never run at once.
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from benchmarks.side_by_side.cases import CASES, Run


def seconds_per_call(run: Run, calls: int) -> float:
    """Time `calls` calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def main(peer: str, threads: int) -> None:
    """Serve the driver until its pipe closes."""
    ml: Any = importlib.import_module(peer)
    ml.set_num_threads(threads)
    prepared: dict[str, Run] = {}
    print(f"{peer} {ml.__version__}", flush=True)
    for line in sys.stdin:
        name = line.strip()
        case = CASES[name]
        if name not in prepared:
            prepared[name] = case.prepare(ml)
            seconds_per_call(prepared[name], max(1, case.calls // 2))
        print(seconds_per_call(prepared[name], case.calls), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
