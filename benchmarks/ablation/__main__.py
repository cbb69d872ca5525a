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
import statistics
import tempfile
from pathlib import Path

from rich.console import Console
from rich.progress import track

import autocalc as ac
from benchmarks.ablation.item import Item
from benchmarks.ablation.items import all_items
from benchmarks.compiler import compiled
from benchmarks.tables import Cells, console
from benchmarks.worker import Run, seconds_per_call

ROUND_SECONDS = 0.03


def plain_forms(folder: str) -> ctypes.CDLL:
    """Compile and load what was before."""
    here = Path(__file__).parent
    library = f"{folder}/before.so"
    sources = [here / "gemm.cpp", here / "loops.cpp"]
    flags = ["-march=native", "-fno-math-errno", "-fPIC", "-shared"]
    if not compiled(sources, library, flags):
        raise SystemExit(
            "benchmarks.ablation: no C++ compiler was found; it makes what is measured "
            "as `before`. Install one, or name one in CXX."
        )
    return ctypes.CDLL(library)


def measure(item: Item, rounds: int) -> tuple[float, float, float]:
    """Return seconds before and after, and the gain."""
    threads = item.before_threads or item.threads, item.threads
    runs = list(zip((item.before, item.after), threads, strict=True))
    calls = [_calls(run, count) for run, count in runs]

    def seconds(which: int) -> float:
        run, count = runs[which]
        ac.set_num_threads(count)
        return seconds_per_call(run, calls[which])

    pairs = [(seconds(0), seconds(1)) for _ in range(rounds)]
    before, after = map(statistics.median, zip(*pairs, strict=True))
    return before, after, statistics.median(b / a for b, a in pairs)


def _calls(run: Run, threads: int) -> int:
    ac.set_num_threads(threads)
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
    cells = Cells(
        ("item", "what it changes", "work", "threads", "before", "after", "gain")
    )
    with tempfile.TemporaryDirectory() as folder:
        items = list(all_items(plain_forms(folder)))
        for item in track(items, "measuring", console=Console(stderr=True)):
            before, after, gain = measure(item, options.rounds)
            cells.rows.append(
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
    console().print(cells.shown())
    if options.markdown:
        Path(options.markdown).write_text(cells.markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
