# SPDX-License-Identifier: MIT
"""Runs functions eagerly and compiled, with a pass and without, and compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.dispatcher import registry

import autocalc as ac
from autocalc._compile import Compiled
from autocalc._compile._passes import (
    PASSES,
    REORDERING,
    early_updates,
    recomputation,
    transposed_weights,
)
from autocalc.plugin import DispatchKey

__all__ = [
    "APART",
    "PASSES",
    "REORDERING",
    "Compiled",
    "Make",
    "ask_for_transposed",
    "check",
    "eager",
    "early_updates",
    "names",
    "needs_conv_activation",
    "recomputation",
    "run",
    "same",
    "transposed_weights",
    "values",
]

#: Passes that are off unless they are what is tested: calls are counted one by one.
APART = ("conv_epilogues", "elementwise_fusion", "norm_folding")

needs_conv_activation = pytest.mark.skipif(
    not any(
        "conv_activation" in (registry().kernels(name) or {})
        for name in ac.kernels.available()
        if name != "reference"
    ),
    reason="no installed kernel set has conv_activation",
)

#: Builds a function, with parameters of its own, that is called without arguments.
Make = Callable[[], Callable[[], Any]]


def names(step: Compiled) -> list[str]:
    """Return the kernels that the one program of a function calls, in order."""
    (replay,) = step.programs
    return [instruction.name for instruction in replay.instructions]


def run(make: Make, calls: int = 5, **words: Any) -> tuple[list[Any], Compiled]:
    """Return what a compiled function gives at each call, and the function."""
    ac.manual_seed(1)
    step = Compiled(make(), **{"off": APART, **words})
    ac.manual_seed(2)
    return [values(step()) for _ in range(calls)], step


def eager(make: Make, calls: int = 5) -> list[Any]:
    """Return what a function gives at each call."""
    ac.manual_seed(1)
    step = make()
    ac.manual_seed(2)
    return [values(step()) for _ in range(calls)]


def values(result: Any) -> list[Any]:
    """Return copies of the arrays of one tensor or of several."""
    found = result if isinstance(result, (tuple, list)) else (result,)
    return [None if x is None else np.array(x.detach().numpy()) for x in found]


def check(make: Make, name: str, *, exact: bool = True, alone: bool = False) -> Any:
    """Check a pass: results as of eager code with it and without it.

    Returns the kernels' names without the pass and with it; `alone` switches all other
    passes off.
    """
    others = PASSES.keys() - {name} if alone else {*APART} - {name}
    want = eager(make)
    without, first = run(make, off=(*others, name))
    with_it, second = run(make, off=others)
    same(want, without, exact=exact)
    same(want, with_it, exact=exact)
    return names(first), names(second)


def same(want: list[Any], have: list[Any], *, exact: bool = True) -> None:
    """Check that all results are the same, in bits or nearly."""
    assert len(want) == len(have)
    for a, b in zip(want, have, strict=True):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert (x is None) == (y is None)
            if x is None:
                continue
            assert x.shape == y.shape
            assert x.dtype == y.dtype
            if exact:
                assert x.tobytes() == y.tobytes()
            else:
                # Some are sums of hundreds that cancel: a bias before batch norm.
                np.testing.assert_allclose(x, y, rtol=2e-5, atol=3e-5)


def ask_for_transposed(monkeypatch: pytest.MonkeyPatch) -> list[DispatchKey]:
    """Let every set ask for transposed weights; return the keys of its calls."""
    keys: list[DispatchKey] = []
    found = registry()
    known = found.kernels

    def ask(key: DispatchKey) -> bool:
        keys.append(key)
        return True

    made: dict[str, Any] = {}

    def kernels(name: str) -> Any:
        if name not in made:  # each choice of a kernel asks
            made[name] = dict(known(name) or {})
            for product in transposed_weights.AXES.keys() & made[name].keys():
                offered = made[name][product]
                made[name][product] = replace(offered, transposed_weight=ask)
        return made[name]

    monkeypatch.setattr(found, "kernels", kernels)
    return keys
