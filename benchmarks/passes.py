# SPDX-License-Identifier: MIT
"""What each pass of `ac.compile` is worth: ``python -m benchmarks.passes [CASE ...]``.

A case of `benchmarks.side_by_side` is compiled with all passes, and once without each.
All programs run in turn, in many short rounds; what is shown is the median of the
rounds' ratios, time without the pass over time with it, in brackets the middle half.
"""

from __future__ import annotations

import argparse
import statistics
from typing import NamedTuple

import autocalc as ac
from autocalc._compile import Compiled
from autocalc._compile._passes import PASSES
from benchmarks.side_by_side.cases import CASES, WARM_UP
from benchmarks.worker import Run, seconds_per_call

CASES_BY_DEFAULT = (
    "MLP step 64-128-10, batch 64",
    "LSTM step 28x28-128-10, batch 128",
    "LM 8x32, d 64, heads 4, layers 2",
    "LM 12x64, d 128, heads 4, layers 4",
    "ResNet step 32-64-128, 128x28x28",
    "MobileNetV2, 1 of 224x224, inference",
    "BERT d 128, 1x64 tokens, inference",
)


class Variant(NamedTuple):
    """A program without a pass, or with all."""

    off: str
    run: Run
    kernels: tuple[str, ...]
    prologue: int  # calls, which may prepare what the same kernels read

    def differs(self, whole: Variant) -> bool:
        """Return whether the pass changed the program.

        A case of images takes the layout that a trial finds faster, so that one variant
        may begin with a copy that another does not have.
        """
        counted = [
            [name for name in v.kernels if name != "copy" or self.off == "copies"]
            for v in (self, whole)
        ]
        return counted[0] != counted[1] or self.prologue != whole.prologue


def variant(case: str, off: str) -> Variant:
    """Compile a case without a pass."""
    run: Compiled = ac.compile(CASES[case].prepare(ac), off=off or ())
    for _ in range(WARM_UP):
        run()
    program = run.programs[0].program
    kernels = (instruction.name for instruction in program.instructions)
    return Variant(off, run, tuple(kernels), len(program.prologue))


def compare(case: str, rounds: int) -> None:
    """Print a case's rows."""
    whole, *others = [variant(case, off) for off in ("", *PASSES)]
    print(f"{case}: {len(whole.kernels)} instructions")
    others = [v for v in others if v.differs(whole)]
    calls = CASES[case].calls
    ratios: dict[str, list[float]] = {v.off: [] for v in others}
    for _ in range(rounds):
        for v in others:
            ratio = seconds_per_call(v.run, calls) / seconds_per_call(whole.run, calls)
            ratios[v.off].append(ratio)
    for v in others:
        low, median, high = statistics.quantiles(ratios[v.off])
        print(
            f"    without {v.off:26} {len(v.kernels):5} instructions"
            f"  {median:5.3f}x  ({low:.3f} to {high:.3f})",
            flush=True,
        )


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="rounds (default: 15)")
    parser.add_argument("--threads", type=int, default=2, help="threads (default: 2)")
    parser.add_argument("cases", nargs="*", help="parts of names of cases")
    options = parser.parse_args()
    ac.set_num_threads(options.threads)
    parts = options.cases or CASES_BY_DEFAULT
    names = [case for case in CASES if any(part in case for part in parts)]
    if not names:
        parser.error(f"no case matches {parts}; there are: {', '.join(CASES)}")
    for name in names:
        compare(name, options.rounds)


if __name__ == "__main__":
    main()
