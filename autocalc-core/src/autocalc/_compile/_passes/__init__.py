# SPDX-License-Identifier: MIT
"""Passes: each takes a program and returns an equivalent program that is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autocalc._compile._passes import (
    accumulate,
    common_subexpressions,
    constants,
    dead_code,
    early_callbacks,
    early_updates,
    identities,
    prologue,
    recomputation,
    shared_gradients,
    transposed_weights,
    versions,
)
from autocalc._program import _copies, _elementwise_fusion, _rewrites
from autocalc._program._form import Program

#: The passes, in the order in which they run.
PASSES: dict[str, Callable[[Program], Program]] = {
    "versions": versions.run,
    "dead_code": dead_code.run,
    "common_subexpressions": common_subexpressions.run,
    "accumulate": accumulate.run,
    "constants": constants.run,
    "identities": identities.run,
    "copies": _copies.run,
    **_rewrites.PASSES,
    "prologue": prologue.run,
    "transposed_weights": transposed_weights.run,
    "elementwise_fusion": _elementwise_fusion.run,
    "early_updates": early_updates.run,
    "early_callbacks": early_callbacks.run,
    "shared_gradients": shared_gradients.run,
    "recomputation": recomputation.run,
}


#: Passes that change the order of sums.
REORDERING = frozenset(
    {"accumulate", "epilogues", "norm_epilogues", "norm_folding", "transposed_weights"}
)


def optimize(program: Program, *, off: Iterable[str] = ()) -> Program:
    """Return the program after all passes that are not switched off."""
    for name, run in PASSES.items():
        if name not in off:
            program = run(program)
    return program
