# SPDX-License-Identifier: MIT
"""Peers that take turns: workers in processes of their own, and what their times say.

Other load on a machine hits neighbours in time alike.  So peers alternate round by
round, and what counts is the median of the rounds' ratios.

Where a scheduler packs the threads of a process on one processor, a pool that is left
to it shows half of its rate.  AutoCalc's pool keeps its threads apart by itself;
OpenMP's, which PyTorch uses, does so when asked (`BOUND`); NumPy's OpenBLAS and JAX
have no such setting.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Variables of the environment that keep a peer's threads on cores of their own.
BOUND = {"OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}
#: A thread of OpenBLAS without work looks for more for 2^x cycles: NumPy's for 114 ms,
#: through the turns of others, which had half a core less.  2^22 is 1.7 ms at 2.5 GHz,
#: longer than any pause within its own turn; 2^14 costs it speed.
QUIET = {"OPENBLAS_THREAD_TIMEOUT": "22"}
#: After its turn a peer's threads spin for more work: those of GNU OpenMP some 30 ms.
#: With less of a pause they disturb the next peer.  A peer of one thread has none.
SETTLE_SECONDS = 0.04


class Peer:
    """A process that answers the seconds per call of a case."""

    def __init__(self, process: subprocess.Popen[str], settle: float) -> None:
        self._process = process
        self._settle = settle
        #: Name and version, as the process gives them.
        self.title = self._answer()

    def seconds(self, case: str, calls: int) -> float:
        """Let the process call a case; NaN if it has no such thing.

        It begins after a pause in which the last peer's threads go to sleep.
        """
        time.sleep(self._settle)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{case}\t{calls}\n")
        self._process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            message = "benchmarks: a worker ended before it answered; see above."
            raise SystemExit(message)
        return line.strip()


@contextmanager
def started(
    command: list[str], environment: Mapping[str, str], settle: float = SETTLE_SECONDS
) -> Iterator[Peer]:
    """Start a process that speaks the worker's protocol; end it with the block."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=dict(environment)
    ) as process:
        yield Peer(process, settle)
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def pair(
    cases: str,
    ours: tuple[str, str],
    theirs: tuple[str, str],
    threads: int,
    own: Mapping[str, str] | None = None,
) -> Iterator[tuple[Peer, Peer]]:
    """Start two workers, each of (interpreter, peer); `own` are variables of theirs."""
    common = {**os.environ, **BOUND}
    settle = SETTLE_SECONDS if threads > 1 else 0.0
    first = started(worker(ours[0], cases, ours[1], threads), common, settle)
    second = started(
        worker(theirs[0], cases, theirs[1], threads), {**common, **(own or {})}, settle
    )
    with first as mine, second as other:
        yield mine, other


def worker(python: str, cases: str, peer: str, threads: int) -> list[str]:
    """Return the command of a worker."""
    return [python, "-m", "benchmarks.worker", cases, peer, str(threads)]
