# SPDX-License-Identifier: MIT
"""Where a step's time goes: ``python -m benchmarks.shares [--module torch] CASE...``.

The cases are those of `benchmarks.side_by_side`.  For each: the time of a step, and how
much of it is matrix products, attention, other kernels, and the rest, which in AutoCalc
is Python and dispatch.  AutoCalc's kernels are timed call by call; PyTorch's profiler
tells products and attention only, so that its other kernels are in the rest.  All are
medians over the steps.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.side_by_side.cases import CASES, start
from benchmarks.tables import Cells, console
from benchmarks.worker import Run, seconds_per_call

Seconds = dict[str, float]

PRODUCTS = {"gemm", "linear", "linear_backward", "aten::mm", "aten::addmm", "aten::bmm"}
WARM_UP = 5


def kind_of(name: str) -> str:
    """Return the column of a kernel."""
    if name in PRODUCTS:
        return "products"
    return "attention" if "attention" in name else "else"


def timed(kernel: Callable[..., object], kind: str, seconds: Seconds) -> Any:
    """Return `kernel`, adding its time to those of its kind."""

    def call(*args: Any) -> None:
        begin = time.perf_counter()
        kernel(*args)
        seconds[kind] += time.perf_counter() - begin

    return call


@contextmanager
def watched() -> Iterator[Seconds]:
    """Time every kernel that was called before; give where the times add up."""
    from autocalc._dispatch.selection.select import KERNEL_INDEX, Decomposed
    from autocalc._dispatch.selection.state import current

    seconds: Seconds = defaultdict(float)
    tables = current().selection.tables
    before = [dict(table) for table in tables]
    for name, index in KERNEL_INDEX.items():
        for key, plan in before[index].items():
            kernel, *more = plan if isinstance(plan, tuple) else (plan,)
            if not isinstance(kernel, Decomposed):
                call = timed(kernel, kind_of(name), seconds)
                tables[index][key] = (call, *more) if more else call
    try:
        yield seconds
    finally:
        for table, known in zip(tables, before, strict=True):
            table.update(known)


def ours(run: Run, steps: int) -> Seconds:
    """Return the seconds of AutoCalc's step, of its kernels by kind, of the rest."""
    each = []
    with watched() as seconds:
        for _ in range(steps):
            seconds.clear()
            step = seconds_per_call(run, 1)
            each.append(dict(seconds, step=step, rest=step - sum(seconds.values())))
    return medians(each)


def theirs(run: Run, steps: int) -> Seconds:
    """Return the same of PyTorch's step; its time is taken without the profiler."""
    profiler = importlib.import_module("torch.profiler")
    step = statistics.median(seconds_per_call(run, 1) for _ in range(steps))
    each = []
    for _ in range(steps):
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as profile:
            run()
        known: Seconds = defaultdict(float)
        for row in profile.key_averages():
            known[kind_of(row.key)] += row.self_cpu_time_total * 1e-6
        each.append({kind: known[kind] for kind in ("products", "attention")})
    parts = medians(each)
    parts.update(step=step, rest=step - sum(parts.values()))
    return parts


def medians(each: list[dict[str, float]]) -> Seconds:
    """Return the median over the steps of each kind; a step without it counts 0."""
    kinds = {kind for step in each for kind in step}
    found = {k: statistics.median(step.get(k, 0.0) for step in each) for k in kinds}
    return defaultdict(float, found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="+", help="parts of names")
    parser.add_argument("--module", default="autocalc", help="autocalc or torch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=15)
    options = parser.parse_args()
    print(start(options.module, options.threads))
    ml = importlib.import_module(options.module)
    titles = ("case", "a step", "products", "attention", "other kernels", "the rest")
    cells = Cells(titles, right=range(1, len(titles)))
    for name, case in CASES.items():
        if not any(part in name for part in options.cases):
            continue
        run = case.prepare(ml)
        seconds_per_call(run, WARM_UP)
        parts = (ours if options.module == "autocalc" else theirs)(run, options.steps)
        named = [parts["products"], parts["attention"], parts["else"]]
        whole = parts["step"], *named, parts["rest"]
        cells.rows.append([name, *(f"{1e3 * seconds:.2f} ms" for seconds in whole)])
    console().print(cells.shown())


if __name__ == "__main__":
    main()
