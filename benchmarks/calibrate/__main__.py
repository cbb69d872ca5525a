# SPDX-License-Identifier: MIT
"""Measure the costs that plans compare: ``python -m benchmarks.calibrate``.

A convolution, its gradients and a product a b^T can be computed in several ways. Which
one is taken follows from estimates, sums of costs that are constants of an instruction
set (`csrc/isa/<isa>/tuning.hpp`, `csrc/isa/default_costs.hpp`). This program times all
ways on one thread, finds the costs whose estimates are nearest, and prints them next to
those that are built in, what choices by either give away, and the lines of a
`tuning.hpp` for this machine. It takes a minute or two, most of it for compiling; run
it on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

import autocalc as ac
from benchmarks.calibrate import fit
from benchmarks.calibrate.rows import SHARE, Measured, Way
from benchmarks.tables import Cells, console

HERE = Path(__file__).parent
#: Costs that differ by less are not worth a line.
ALIKE = 0.1
#: Of the ways to products a b^T the multiply-adds' share of the peak, as no plan asks.
BESIDE_PLANS = {"gemm_share": 0.9}


def instruction_sets() -> list[str]:
    """Return those whose kernels are installed and run here, the best one first."""
    names = (name.partition("-") for name in ac.kernels.available())
    return [isa for package, _, isa in names if package == "simd"]


def built(isa: str, folder: Path, jobs: int) -> Path:
    """Compile the program for an instruction set."""
    cmake = shutil.which("cmake")
    if cmake is None:
        raise SystemExit(
            "benchmarks.calibrate: needs CMake and a C++ compiler to build the "
            "kernels' sources; pip install cmake"
        )
    setting = [f"-DAUTOCALC_ISA={isa}", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (
        [cmake, "-S", str(HERE), "-B", str(folder), *setting],
        [cmake, "--build", str(folder), "--target", "calibrate", "-j", str(jobs)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            text = f"benchmarks.calibrate: {' '.join(command)} failed:\n"
            raise SystemExit(text + done.stdout[-4000:] + done.stderr[-4000:])
    return folder / "calibrate"


def measured(program: Path, rounds: int, screen: Console) -> Measured:
    """Run the program; the shape that it is at is shown meanwhile."""
    found = Measured()
    command = [str(program), str(rounds)]
    with (
        screen.status("measuring") as status,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            found.add(line)
            status.update(f"measuring {' '.join(line.split()[1:3])}")
    if process.returncode != 0:
        message = f"benchmarks.calibrate: {program} ended with {process.returncode}"
        raise SystemExit(message)
    return found


# ---- what is shown -------------------------------------------------------------------


def sizes_here(found: Measured) -> dict[str, float]:
    """Return the sizes that are fastest here."""
    here: dict[str, float] = {"most_dot_rows": fit.most_dot_rows(found.ways)}
    for name in dict.fromkeys(size.name for size in found.sizes):
        rows = [size for size in found.sizes if size.name == name]
        here[name] = fit.best_size(rows, int(found.costs[name]))[0]
    return here


def cost_table(built_in: Mapping[str, float], here: Mapping[str, float]) -> Cells:
    """Return a row for each cost."""
    cells = Cells(["cost", "built in", "here", ""], right=(1, 2), wrap=False)
    for cost, value in built_in.items():
        if cost in BESIDE_PLANS:
            continue
        mark = "differs" if differs(value, here[cost]) else ""
        cells.rows.append([cost, number(value), number(here[cost]), mark])
    return cells


def choice_table(
    ways: list[Way], built_in: Mapping[str, float], here: Mapping[str, float]
) -> Cells:
    """Return a row for each family of ways: what choices give away."""
    titles = ["family", "shapes", "error", "error here"]
    titles += ["given away", "worst", "given away here", "worst here"]
    cells = Cells(titles, right=range(1, len(titles)), wrap=False)
    for family in dict.fromkeys(way.family for way in ways if way.amounts):
        rows = [way for way in ways if way.family == family]
        before, after = fit.losses(rows, built_in), fit.losses(rows, here)
        cells.rows.append(
            [
                family,
                str(len(before)),
                f"{fit.error(rows, built_in):.0%}",
                f"{fit.error(rows, here):.0%}",
                f"{statistics.geometric_mean(before) - 1:.1%}",
                f"{max(before):.2f}",
                f"{statistics.geometric_mean(after) - 1:.1%}",
                f"{max(after):.2f}",
            ]
        )
    return cells


def tuning(isa: str, built_in: Mapping[str, float], here: Mapping[str, float]) -> str:
    """Return the lines of a `tuning.hpp` for the costs that differ."""
    lines = [
        f"    static constexpr {kind(cost)} {cost} = {number(here[cost])};"
        for cost, value in built_in.items()
        if cost not in BESIDE_PLANS and differs(value, here[cost])
    ]
    if not lines:
        return f"// {isa}: no cost differs by more than {ALIKE:.0%}.\n"
    return "\n".join(["struct Costs : DefaultCosts {", *lines, "};", ""])


def kind(cost: str) -> str:
    """Return the C++ type of a cost."""
    whole = cost == "most_dot_rows" or cost.startswith("strided_")
    return "int64_t" if whole and SHARE not in cost else "double"


def differs(before: float, here: float) -> bool:
    """Whether two costs differ enough to say so."""
    return abs(here - before) > ALIKE * abs(before)


def number(value: float) -> str:
    """Return a number with two digits, or a whole one."""
    return f"{value:.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"


def main() -> None:
    """Read the command line, measure, and print what was found."""
    sets = instruction_sets()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.calibrate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--isa",
        choices=sets,
        default=sets[0] if sets else None,
        help="default: the best",
    )
    parser.add_argument(
        "--rounds", type=int, default=9, help="of each shape (default: 9)"
    )
    parser.add_argument(
        "--build", metavar="FOLDER", help="keep the compiled program there"
    )
    parser.add_argument(
        "--write", metavar="FILE", help="write the lines of tuning.hpp there"
    )
    options = parser.parse_args()
    if options.isa is None:
        parser.error("the SIMD kernel package is not installed, or runs nothing here")
    if options.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {options.rounds}")
    screen, progress = console(), Console(stderr=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.build or temporary)
        with progress.status(f"compiling for {options.isa}"):
            program = built(options.isa, folder, os.cpu_count() or 1)
        found = measured(program, options.rounds, progress)
    built_in = {**found.costs, **BESIDE_PLANS}
    here = {**fit.tuned(found.ways, built_in), **sizes_here(found)}
    screen.print(cost_table(built_in, here).shown())
    screen.print()
    screen.print(choice_table(found.ways, built_in, here).shown())
    crossed = fit.crossed_losses(found.ways, built_in)
    screen.print(
        f"given away by costs that are fitted to the other half of the shapes: "
        f"{statistics.geometric_mean(crossed) - 1:.1%} (built in "
        f"{statistics.geometric_mean(fit.losses(found.ways, built_in)) - 1:.1%})"
    )
    text = tuning(options.isa, built_in, here)
    screen.print(f"\nFor csrc/isa/{options.isa}/tuning.hpp:\n", highlight=False)
    screen.print(text, highlight=False)
    if options.write:
        Path(options.write).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
