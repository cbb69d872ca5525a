# SPDX-License-Identifier: MIT
"""Passes: each takes a program and returns one that does the same in less time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autocalc._compile._passes import dead_code
from autocalc._compile._program import Program

#: In the order in which they run.
PASSES: dict[str, Callable[[Program], Program]] = {
    "dead_code": dead_code.run,
}


def optimize(program: Program, *, off: Iterable[str] = ()) -> Program:
    """Return the program after all passes but those that are switched off."""
    for name, run in PASSES.items():
        if name not in off:
            program = run(program)
    return program
