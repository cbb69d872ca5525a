# SPDX-License-Identifier: MIT
"""One peer in a process of its own: reads a case and a count, answers seconds per call.

``python -m benchmarks.worker CASES PEER THREADS``: CASES is a module with a function
``prepare(peer, case)`` that returns what to time, or None if the peer has no such
thing.  A process waits on its pipe while another works, so peers never run at once.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable

Run = Callable[[], object]


def seconds_per_call(run: Run, calls: int) -> float:
    """Time `calls` calls in a row."""
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def main(cases: str, peer: str, threads: str) -> None:
    """Serve the driver until its pipe closes."""
    module = importlib.import_module(cases)
    print(module.start(peer, int(threads)), flush=True)
    current, run = "", None
    for line in sys.stdin:
        case, _, calls = line.strip().rpartition("\t")
        if case != current:  # one case's operands at a time
            run = None
            current, run = case, module.prepare(peer, case)
        seconds = math.nan if run is None else seconds_per_call(run, int(calls))
        print(seconds, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
