# SPDX-License-Identifier: MIT
"""The memory of training steps: what was planned is least, and is what is taken."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from benchmarks.side_by_side import images, language
from benchmarks.side_by_side.language import Sizes

import autocalc as ac

pytest.importorskip("tests.simd.sets")
from tests.engine import native


def resnet(batch: int) -> Callable[[Any], Any]:
    layout = images._layouts(ac.channels_last)
    return lambda ml: images._resnet_step(ml, layout, batch)


def transformer(*sizes: int) -> Any:
    return language.step(Sizes(*sizes))


#: Steps of `benchmarks.side_by_side`: small ones, and its own sizes.
STEPS = {
    "transformer of 2 layers": transformer(8, 32, 64, 4, 2, 256),
    "transformer of 4 layers": transformer(12, 64, 128, 4, 4, 512),
    "residual network": resnet(16),
}
LARGE = {
    "transformer of width 256": transformer(2, 256, 256, 8, 12, 1024),
    "residual network of 128 images": resnet(128),
}

ALL = [
    *STEPS.items(),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in LARGE.items()),
]
each_step = pytest.mark.parametrize(("name", "make"), ALL)


class Peaks(NamedTuple):
    """Bytes of temporaries, gradients and results; `measured` are a replay's."""

    eager: int
    compiled: int
    measured: int
    memory: Any


def parameters_of(step: Callable[[], Any]) -> list[Any]:
    """Return what the step's optimizer holds."""
    cells = [cell.cell_contents for cell in step.__closure__ or ()]
    groups = [g for x in cells if hasattr(x, "param_groups") for g in x.param_groups]
    return [p for group in groups for p in group["params"]]


def growth(step: Callable[[], Any], parameters: list[Any]) -> tuple[int, int]:
    """Return by how much a step's peak is above what is there before, and that.

    Gradients are not there before.
    """
    for p in parameters:
        p.grad = None
    gc.collect()
    native.reset_peak()  # to what is in use
    before = ac.memory.stats()["peak_results"]
    step()
    return ac.memory.stats()["peak_results"] - before, before


def ready(step: Callable[[], Any], **words: Any) -> Any:
    run = ac.compile(step, **words)
    while not run.programs:
        run()
    return run


def peaks(make: Any, **words: Any) -> Peaks:
    step = make(ac)
    parameters = parameters_of(step)
    for _ in range(3):
        step()
    eager, there = growth(step, parameters)
    run = ready(step, **words)
    run()
    more, then = growth(run, parameters)
    memory = run.programs[0].memory
    return Peaks(eager, memory.peak + memory.results, then + more - there, memory)


@each_step
def test_the_arena_is_as_small_as_can_be(name: str, make: Any) -> None:
    memory = peaks(make).memory
    assert memory.lower_bound <= memory.peak <= 1.05 * memory.lower_bound


# In a process of its own: what earlier tests have left, and is freed meanwhile, is some
# tens of kilobytes.
ALONE = """
import warnings
from autocalc.errors import CompileWarning
from tests.compile.test_memory import LARGE, STEPS, peaks
warnings.simplefilter("ignore", CompileWarning)
make = (STEPS | LARGE)[{name!r}]
"""


def alone(name: str, code: str) -> list[int]:
    """Return the numbers that a program about a step prints."""
    root = Path(__file__).parents[2]
    return [
        int(number)
        for number in subprocess.run(
            [sys.executable, "-c", ALONE.format(name=name) + code],
            cwd=root, check=True, capture_output=True, text=True,
        ).stdout.split()
    ]  # fmt: skip


@each_step
def test_it_takes_no_more_than_eager_code(name: str, make: Any) -> None:
    del make
    eager, compiled, measured = alone(name, "print(*peaks(make)[:3])")
    assert compiled <= eager
    assert measured <= eager


@each_step
def test_recomputation_takes_thirty_percent_less(name: str, make: Any) -> None:
    del make
    code = """
limit = int(0.7 * peaks(make).eager)
memory = peaks(make, limit=limit).memory
print(limit, memory.peak, memory.lower_bound)
"""
    limit, peak, lower_bound = alone(name, code)
    assert peak <= limit
    assert peak <= 1.05 * lower_bound


SCRIPT = """
import gc, os, warnings
from tests.compile.test_memory import LARGE, ac, parameters_of, ready

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

warnings.simplefilter("ignore")
step = LARGE[{name!r}](ac)
run = ready(step, limit={limit})
for p in parameters_of(step):
    p.grad = None
gc.collect()
ac.memory.trim()
before = resident()
run()
memory = run.programs[0].memory
print(resident() - before, memory.peak + memory.results)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("limit", [None, 95_000_000])
@pytest.mark.parametrize("name", LARGE)
def test_resident_memory_grows_by_what_was_planned(
    name: str, limit: int | None
) -> None:
    script = SCRIPT.format(name=name, limit=limit)
    root = Path(__file__).parents[2]
    out = subprocess.run(
        [sys.executable, "-c", script],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    grown, planned = map(int, out.split())
    # The allocator's marks at both ends of the arena have mapped two huge pages.
    assert planned * 0.95 <= grown <= planned * 1.05


def test_workspaces_of_kernels_are_told_where_they_are_counted() -> None:
    a = ac.randn(300, 300)
    step = ac.compile(lambda: a @ a)
    for _ in range(3):
        step()
    counted = ac.memory.stats().get("workspace")
    assert step.programs[0].memory.workspaces == (counted or 0)
    assert counted is None or counted > 0
