# SPDX-License-Identifier: MIT
"""Measure the optimisation plan item by item: ``python -m benchmarks.ablation``.

Each row runs the same work without an item and with it, in turn; the gain is the median
over the rounds. Products (O-1, O-5, O-11, O-12, O-13, O-15) are measured on a blocked
product of a page, all items but one, so that one item's gain is seen alone; the rest is
measured on the kernels of the package, before being the plain form of the same work.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

import autocalc as ac
from benchmarks.ablation.items import Item, all_items
from benchmarks.worker import Run, seconds_per_call

ROUND_SECONDS = 0.03
#: Items that other parts of AutoCalc answer.
ELSEWHERE = (
    "O-3, O-6, O-7, O-9, O-16 and O-18 belong to convolution and batch norm; "
    "O-4 to the graph, which makes one node for an operator."
)


def compiled(folder: str) -> ctypes.CDLL:
    """Compile what was before."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        message = (
            "benchmarks.ablation: no C++ compiler was found; it makes what is measured "
            "as `before`. Install one, or name one in CXX."
        )
        raise SystemExit(message)
    here = Path(__file__).parent
    sources = [str(here / "gemm.cpp"), str(here / "loops.cpp")]
    library = f"{folder}/before.so"
    flags = ["-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fPIC"]
    command = [compiler, *flags, "-shared", *sources, "-o", library]
    subprocess.run(command, check=True)
    return ctypes.CDLL(library)


def measure(item: Item, rounds: int) -> tuple[float, float, float]:
    """Return seconds before and after, and the gain."""
    ac.set_num_threads(item.threads)
    calls = [_calls(run) for run in (item.before, item.after)]
    pairs = [
        (
            seconds_per_call(item.before, calls[0]),
            seconds_per_call(item.after, calls[1]),
        )
        for _ in range(rounds)
    ]
    before, after = map(statistics.median, zip(*pairs, strict=True))
    return before, after, statistics.median(b / a for b, a in pairs)


def _calls(run: Run) -> int:
    run()
    return max(1, int(ROUND_SECONDS / seconds_per_call(run, 1)))


def shown(seconds: float) -> str:
    """Return a time in its unit."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.2f} ms"


def main() -> None:
    """Run the ablation."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", metavar="FILE", help="write the table there too")
    options = parser.parse_args()
    titles = ("item", "what it changes", "work", "threads", "before", "after", "gain")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        items = list(all_items(compiled(folder)))
        for item in track(items, "measuring", console=Console(stderr=True)):
            before, after, gain = measure(item, options.rounds)
            rows.append(
                (
                    f"O-{item.number}",
                    item.change,
                    item.operands,
                    str(item.threads),
                    shown(before),
                    shown(after),
                    f"{gain:.2f}x",
                )
            )
    console = Console()
    if not console.is_terminal:  # a file: no line is too long
        console = Console(width=140)
    table = Table(*titles, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(ELSEWHERE, soft_wrap=True, highlight=False)
    if options.markdown:
        rule = ["---"] * len(titles)
        text = "".join(f"| {' | '.join(cells)} |\n" for cells in (titles, rule, *rows))
        Path(options.markdown).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
