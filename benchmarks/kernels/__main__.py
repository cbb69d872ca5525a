# SPDX-License-Identifier: MIT
"""Print what every kernel is worth here: ``python -m benchmarks.kernels``.

For each kernel and shape: its rate, this machine's peak (float32 multiply-adds in
registers for products; y += a x on 64 MiB for the rest; each thread on a processor of
its own) and the share of it, and how many times as fast it is as PyTorch, NumPy and
JAX, where they are installed. All take turns in one run, the peak right after AutoCalc
in every round; a ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

import autocalc as ac
from autocalc.cli._timing import TimedRow
from benchmarks.compiler import AWAY_FROM_BLOCKS, compiled, known_flags
from benchmarks.kernels.cases import ROWS, BenchmarkRow, arguments
from benchmarks.peers import BOUND, QUIET, ROOT, Peer, started, worker
from benchmarks.tables import Cells, console

RIVALS = ("torch", "numpy", "jax")
AXPY_BYTES = 3 * 4 * (1 << 24)
#: The flags that let the compiler use what a kernel set uses.
FLAGS = {
    "simd-avx512": ["-mavx512f"],
    "simd-avx2": ["-mavx2", "-mfma"],
    "simd-sse2": ["-msse2"],
}
#: A round of one peer takes about this long.
ROUND_SECONDS = 0.03


class Result(NamedTuple):
    """A row, measured."""

    row: BenchmarkRow
    rate: float  # GFLOP/s or GB/s
    peak: float  # of the same rounds, nan without a compiler
    share: float  # of the peak
    faster: dict[str, float]  # than each rival; nan where it has no such thing


def measure(row: BenchmarkRow, peers: dict[str, Peer], rounds: int) -> Result:
    """Let all peers run a row in turn."""
    calls = {}
    for name, peer in peers.items():
        case = _case(name, row)
        peer.seconds(case, 1)
        once = peer.seconds(case, 1)
        calls[name] = 1 if math.isnan(once) else max(1, int(ROUND_SECONDS / once))
    times: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, peer in peers.items():
            times[name].append(peer.seconds(_case(name, row), calls[name]))
    ours, amount = times["autocalc"], row.work(arguments(row))
    best = 1e9 if row.by_products else AXPY_BYTES
    peak = times.get("peak", [math.nan] * rounds)
    share = statistics.median(
        (amount / mine) / (best / top) for mine, top in zip(ours, peak, strict=True)
    )
    faster = {
        name: statistics.median(b / a for a, b in zip(ours, times[name], strict=True))
        for name in peers
        if name in RIVALS
    }
    rate = amount / statistics.median(ours) / 1e9
    return Result(row, rate, best / statistics.median(peak) / 1e9, share, faster)


def _case(peer: str, row: BenchmarkRow) -> str:
    if peer == "peak":
        return "fma" if row.by_products else "axpy"
    return row.name


# ---- the peers -----------------------------------------------------------------------


def find(module: str, given: str | None) -> str | None:
    """Return an interpreter that has `module` and NumPy."""
    places = [given] if given else [sys.executable, f"{ROOT}/.venv-{module}/bin/python"]
    for python in places:
        if not Path(python).exists():
            continue
        found = subprocess.run(
            [python, "-c", f"import numpy, {module}"], capture_output=True, check=False
        )
        if found.returncode == 0:
            return python
    if given:
        message = f"benchmarks.kernels: {given} cannot import {module} and numpy"
        raise SystemExit(message)
    return None


def compiled_peak(folder: str, kernels: str | None) -> list[str] | None:
    """Compile the measurement of the peaks; None without a compiler."""
    program = f"{folder}/peak"
    flags = [
        "-ffp-contract=fast",
        "-pthread",
        *FLAGS.get(kernels or "", ["-march=native"]),
    ]
    flags += known_flags(AWAY_FROM_BLOCKS)
    source = Path(__file__).with_name("peak.cpp")
    return [program] if compiled([source], program, flags) else None


def environment(threads: int, kernels: str | None) -> dict[str, str]:
    """Return the environment that gives each peer its threads and its best settings."""
    count = str(threads)
    return {
        **os.environ,
        **BOUND,
        **QUIET,
        "OMP_NUM_THREADS": count,
        "OPENBLAS_NUM_THREADS": count,
        "MKL_NUM_THREADS": count,
        "THP_MEM_ALLOC_ENABLE": "1",  # PyTorch: huge pages
        **({"AUTOCALC_KERNELS": kernels} if kernels else {}),
    }


def start_all(stack: ExitStack, options: argparse.Namespace) -> dict[str, Peer]:
    """Start the workers of all that is installed."""
    given = {"torch": options.torch, "numpy": None, "jax": options.jax}
    found = {name: find(name, given[name]) for name in RIVALS}
    commands = {
        name: worker(python, "benchmarks.kernels.run", name, options.threads)
        for name, python in {"autocalc": sys.executable, **found}.items()
        if python is not None
    }
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    peak = compiled_peak(folder, options.kernels)
    if peak is not None:  # measured next to AutoCalc: a machine's state may change
        commands = {
            "autocalc": commands["autocalc"],
            "peak": [*peak, str(options.threads)],
            **commands,
        }
    variables = environment(options.threads, options.kernels)
    return {
        name: stack.enter_context(started(command, variables))
        for name, command in commands.items()
    }


# ---- what is shown -------------------------------------------------------------------


def table(results: list[Result], rivals: list[str]) -> Cells:
    """Return a row for each result."""
    titles = ["kernel", "operands", "rate", "", "peak", "of peak"]
    titles += [f"x {rival}" for rival in rivals]
    cells = Cells(titles, right=(2, *range(4, len(titles))), wrap=False)
    for result in results:
        known = not math.isnan(result.share)
        cells.rows.append(
            [
                result.row.kernel,
                result.row.operands,
                f"{result.rate:.1f}",
                "GFLOP/s" if result.row.by_products else "GB/s",
                f"{result.peak:.0f}" if known else "-",
                f"{100 * result.share:.0f} %" if known else "-",
                *(_ratio(result.faster[name]) for name in rivals),
            ]
        )
    return cells


def _ratio(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def summary(results: list[Result], rivals: list[str]) -> list[str]:
    """Return geometric means, and the rows in which a rival is ahead."""
    said = []
    for kind, chosen in (
        ("products", [r for r in results if r.row.by_products]),
        ("the rest", [r for r in results if not r.row.by_products]),
    ):
        for name in rivals:
            ratios = [r.faster[name] for r in chosen if not math.isnan(r.faster[name])]
            if ratios:
                mean = statistics.geometric_mean(ratios)
                said.append(
                    f"{kind} against {name}: {mean:.2f} times as fast (geometric mean "
                    f"of {len(ratios)} rows)"
                )
    behind = [
        result.row.name
        for result in results
        if any(ratio < 0.97 for ratio in result.faster.values())
    ]
    if behind:
        said.append(f"more than 3 % slower than a peer: {', '.join(behind)}")
    return said


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("rows", nargs="*", help="parts of rows' names; all by default")
    parser.add_argument(
        "--kernels",
        choices=ac.kernels.available(),
        help="AutoCalc's kernel set, and the rows that it takes; default: by rank",
    )
    parser.add_argument("--threads", type=int, default=ac.get_num_threads())
    parser.add_argument("--rounds", type=int, default=9)
    help_python = "the interpreter that has it; else this one's, else .venv-%s"
    parser.add_argument("--torch", metavar="PYTHON", help=help_python % "torch")
    parser.add_argument("--jax", metavar="PYTHON", help=help_python % "jax")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there too")
    options = parser.parse_args()
    parts = options.rows or [""]
    rows = [row for name, row in ROWS.items() if any(part in name for part in parts)]
    if not rows:
        parser.error(f"no row matches; there are: {', '.join(ROWS)}")
    screen = console()
    if options.kernels:
        able = [row for row in rows if options.kernels in TimedRow(row).sets()]
        if not able:
            parser.error(f"{options.kernels} takes none of {len(rows)} rows")
        if len(able) < len(rows):
            screen.print(f"{options.kernels} takes {len(able)} of {len(rows)} rows")
        rows = able
    with ExitStack() as stack:
        peers = start_all(stack, options)
        for peer in peers.values():
            screen.print(peer.title, highlight=False)
        absent = [name for name in RIVALS if name not in peers]
        if absent:
            screen.print(f"not installed: {', '.join(absent)}")
        progress = track(rows, "measuring", console=Console(stderr=True))
        results = [measure(row, peers, options.rounds) for row in progress]
    rivals = [name for name in RIVALS if name in peers]
    cells = table(results, rivals)
    screen.print(cells.shown())
    for line in summary(results, rivals):
        screen.print(line, soft_wrap=True, highlight=False)
    if options.markdown:
        Path(options.markdown).write_text(cells.markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
