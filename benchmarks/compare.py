# SPDX-License-Identifier: MIT
"""AutoCalc, PyTorch and JAX in turn, one table: ``python -m benchmarks.compare``.

The cases are those of `benchmarks.side_by_side`; JAX has MLPs and transformers, jitted,
and is compared with `ac.compile`; PyTorch is eager, and so is what it is compared with.
Each runs in a process of its own, and all take turns in every round; times are medians,
and "x" is the median of the rounds' ratios: how many times as fast AutoCalc is.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import track

import autocalc as ac
from autocalc._dispatch.machine.cpu import cpu_name
from benchmarks.kernels.__main__ import find
from benchmarks.peers import BOUND, ROOT, Peer, started, worker
from benchmarks.side_by_side.cases import CASES, COMPILED
from benchmarks.tables import Cells, console
from benchmarks.zoo.rows import ZOO

MODULE = "benchmarks.side_by_side.cases"
EAGER, REPLAYED = "autocalc", "autocalc" + COMPILED
#: Peers, and the side of AutoCalc that each is compared with.
RIVALS = {"torch": EAGER, "jax": REPLAYED}
NAMES = {EAGER: "eager", REPLAYED: "compiled", "torch": "PyTorch", "jax": "JAX"}
OUT = ROOT / ".asv" / "compare.md"


class Result(NamedTuple):
    """A case, measured: times and ratios by peer, NaN for what a peer lacks."""

    case: str
    seconds: dict[str, float]
    faster: dict[str, float]


def is_step(case: str) -> bool:
    """Return whether a case is a training step, which can be compiled."""
    return "step" in case or case.startswith("LM ")


def selected(parts: list[str]) -> list[str]:
    """Return the cases that a command line names; by default all but the zoo's."""
    if not parts:
        return [name for name in CASES if name not in ZOO]
    return [name for name in CASES if any(part in name for part in parts)]


def measure(case: str, peers: dict[str, Peer], rounds: int) -> Result:
    """Let the peers that have a case run it in turn."""
    able = {n: p for n, p in peers.items() if n != REPLAYED or is_step(case)}
    calls = CASES[case].calls
    able = {n: p for n, p in able.items() if not math.isnan(p.seconds(case, 2 * calls))}
    times: dict[str, list[float]] = {name: [] for name in able}
    for _ in range(rounds):
        for name, peer in able.items():
            times[name].append(peer.seconds(case, calls))
    medians = {name: statistics.median(found) for name, found in times.items()}
    ratios = {
        rival: statistics.median(
            b / a for a, b in zip(times[own], times[rival], strict=True)
        )
        for rival, own in RIVALS.items()
        if rival in times and own in times
    }
    return Result(case, medians, ratios)


# ---- what is shown -------------------------------------------------------------------


def table(results: list[Result], peers: list[str]) -> Cells:
    """Return a row for each case."""
    rivals = [name for name in RIVALS if name in peers]
    titles = ["case", "", *(NAMES[name] for name in peers)]
    titles += [f"x {NAMES[rival]}" for rival in rivals]
    cells = Cells(titles, right=range(2, len(titles)), wrap=False)
    for result in results:
        shown = [_figure(result, name) for name in peers]
        ratios = [_number(result.faster.get(rival, math.nan)) for rival in rivals]
        cells.rows.append([result.case, CASES[result.case].unit, *shown, *ratios])
    return cells


def _figure(result: Result, peer: str) -> str:
    """Return a peer's time in the unit of its case."""
    case, seconds = CASES[result.case], result.seconds.get(peer, math.nan)
    if case.unit == "GFLOP/s":
        return _number(case.per / seconds / 1e9)
    return _number(seconds / case.per)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def settings(titles: dict[str, str], threads: int, rounds: int) -> Iterator[str]:
    """Yield a line for each thing that the figures depend on."""
    yield f"{time.strftime('%Y-%m-%d')}, {cpu_name()}, {platform.platform()}"
    yield f"Python {platform.python_version()}, {threads} threads, {rounds} rounds"
    yield f"AutoCalc: kernel sets {', '.join(ac.kernels.available())}"
    for name, title in titles.items():
        yield f"{NAMES[name]}: {title}"
    bound = " ".join(f"{name}={value}" for name, value in BOUND.items())
    yield f"Every process: {bound}"
    if "torch" in titles:
        yield "PyTorch: eager, fused optimizers, images in the layout found faster"
    if "jax" in titles:
        yield "JAX: jax.jit of the whole step, buffers donated, synchronous calls"
    for name in RIVALS:
        if name not in titles:
            yield f"{NAMES[name]}: not installed"


def means(results: list[Result]) -> Iterator[str]:
    """Yield the geometric mean against each rival."""
    for rival, own in RIVALS.items():
        ratios = [r.faster[rival] for r in results if rival in r.faster]
        if ratios:
            mean = statistics.geometric_mean(ratios)
            yield (
                f"{NAMES[own]} against {NAMES[rival]}: {mean:.2f} times as fast "
                f"(geometric mean of {len(ratios)} cases)"
            )


def start_all(stack: ExitStack, options: argparse.Namespace) -> dict[str, Peer]:
    """Start AutoCalc's two workers, and those of the rivals that are installed."""
    pythons = {EAGER: sys.executable, REPLAYED: sys.executable}
    for name, given in (("torch", options.torch), ("jax", options.jax)):
        python = find(name, given)
        if python is not None:
            pythons[name] = python
    count = str(options.threads)
    variables = {**os.environ, **BOUND, "OMP_NUM_THREADS": count}
    return {
        name: stack.enter_context(
            started(worker(python, MODULE, name, options.threads), variables)
        )
        for name, python in pythons.items()
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", nargs="*", help="parts of cases' names")
    parser.add_argument("--threads", type=int, default=ac.get_num_threads())
    parser.add_argument("--rounds", type=int, default=15)
    help_python = "the interpreter that has it; else this one's, else .venv-%s"
    parser.add_argument("--torch", metavar="PYTHON", help=help_python % "torch")
    parser.add_argument("--jax", metavar="PYTHON", help=help_python % "jax")
    parser.add_argument(
        "--out", type=Path, default=OUT, help="the file for the table (%(default)s)"
    )
    options = parser.parse_args(arguments)
    names = selected(options.cases)
    if not names:
        parser.error(f"no case matches; there are: {', '.join(CASES)}")
    screen = console()
    with ExitStack() as stack:
        peers = start_all(stack, options)
        titles = {name: peer.title for name, peer in peers.items()}
        lines = list(settings(titles, options.threads, options.rounds))
        for line in lines:
            screen.print(line, highlight=False, soft_wrap=True)
        progress = track(names, "measuring", console=Console(stderr=True))
        results = [measure(case, peers, options.rounds) for case in progress]
    cells, summary = table(results, list(peers)), list(means(results))
    screen.print(cells.shown())
    for line in summary:
        screen.print(line, highlight=False)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"- {line}\n" for line in [*lines, *summary])
    text = f"# AutoCalc, PyTorch and JAX\n\n{head}\n{cells.markdown()}"
    options.out.write_text(text, encoding="utf-8")
    screen.print(f"The table is in {options.out}", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
