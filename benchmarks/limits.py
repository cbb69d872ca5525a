# SPDX-License-Identifier: MIT
"""How near compiled steps come to the limit: ``python -m benchmarks.limits CASE...``.

The limit of a step is the time of its multiply-adds at the peak that both threads reach
in registers, measured in turn with the step. Products, convolutions, attention (causal
pairs only) and recurrent layers count; everything else of a step counts as nothing.
The cases are those of `benchmarks.side_by_side`; eager code runs in turn, too.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from typing import NamedTuple

import autocalc as ac
from autocalc._compile import Compiled
from autocalc._compile._compiled_program import CompiledProgram
from autocalc._program._work import work_of
from benchmarks.kernels.__main__ import compiled_peak, environment
from benchmarks.peers import Peer, started
from benchmarks.side_by_side.cases import CASES, WARM_UP
from benchmarks.worker import Run, seconds_per_call

CASES_BY_DEFAULT = (
    "MLP step 784-1024-10, batch 256",
    "LSTM step 28x28-128-10, batch 128",
    "LM 8x32, d 64, heads 4, layers 2",
    "LM 12x64, d 128, heads 4, layers 4",
    "LM 8x128, d 128, heads 4, layers 6",
    "LM 2x256, d 256, heads 8, layers 12",
    "ResNet step 32-64-128, 128x28x28",
)
#: Beginnings of the names of kernels that are made of multiply-adds.
MULTIPLY_ADDS = ("gemm", "linear", "conv", "attention", "lstm", "gru", "rnn")
#: The peak's call, in floating-point operations.
PEAK_FLOP = 1e9


class Times(NamedTuple):
    """Seconds of each round: the compiled step, eager code, 1e9 operations at peak."""

    compiled: list[float]
    eager: list[float]
    peak: list[float]


def multiply_adds(program: CompiledProgram) -> float:
    """Return the floating-point operations of a step's products."""
    return sum(
        work_of(i).flops
        for i in program.instructions
        if i.spec is not None and i.spec.name.startswith(MULTIPLY_ADDS)
    )


def measure(run: Run, eager: Run, calls: int, peak: Peer, rounds: int) -> Times:
    """Time a compiled step, eager code and the peak in turn."""
    times = Times([], [], [])
    for _ in range(rounds):
        times.compiled.append(seconds_per_call(run, calls))
        times.eager.append(seconds_per_call(eager, calls))
        times.peak.append(peak.seconds("fma", 1))
    return times


def compare(case: str, peak: Peer, rounds: int) -> None:
    """Print a case's row."""
    eager = CASES[case].prepare(ac)
    run: Compiled = ac.compile(CASES[case].prepare(ac))
    for _ in range(WARM_UP):
        run(), eager()
    flop = multiply_adds(run.programs[0])
    times = measure(run, eager, CASES[case].calls, peak, rounds)
    limit = flop / PEAK_FLOP * min(times.peak)
    shares = [limit / t for t in times.compiled]
    faster = [e / c for e, c in zip(times.eager, times.compiled, strict=True)]
    print(
        f"{case:38} {flop / 1e9:7.3f} GFLOP  limit {limit * 1e3:8.3f} ms  "
        f"compiled {statistics.median(times.compiled) * 1e3:8.3f} ms  "
        f"{statistics.median(shares):4.0%} of the limit (best {max(shares):4.0%})  "
        f"{statistics.median(faster):.2f}x eager",
        flush=True,
    )


def main() -> None:
    """Read the command line and print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="names of cases, or parts of names")
    parser.add_argument("--rounds", type=int, default=21, help="rounds (default: 21)")
    parser.add_argument("--threads", type=int, default=2, help="default: 2")
    options = parser.parse_args()
    ac.set_num_threads(options.threads)
    chosen = [n for n in CASES if any(part in n for part in options.cases)]
    with tempfile.TemporaryDirectory() as folder:
        command = compiled_peak(folder, None)
        if command is None:
            message = "benchmarks.limits: the peak needs a C++ compiler; CXX names it."
            raise SystemExit(message)
        command = [*command, str(options.threads)]
        with started(command, environment(options.threads, None)) as peak:
            for case in chosen or CASES_BY_DEFAULT:
                compare(case, peak, options.rounds)


if __name__ == "__main__":
    main()
