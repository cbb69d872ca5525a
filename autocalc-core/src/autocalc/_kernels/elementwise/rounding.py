# SPDX-License-Identifier: MIT
"""Rounding to integers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import floats, mebi
from autocalc._kernels.declare import elementwise
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.samples import unary as _unary
from autocalc._kernels.spec import Array, Meta, Sample


def _round_rule(a: Meta, mode: str) -> Meta:
    return Meta(a.shape, float_dtype("round", a))


def rounding(make: Make) -> Iterator[Sample]:
    halves = (np.arange(-9, 10) / 2).astype(make.dtype)
    for mode in ("floor", "ceil", "trunc", "even"):
        yield Sample(f"{mode} halves", (halves,), (mode,))
        for sample in _unary(make) if mode == "floor" else ():
            yield Sample(f"{sample.label}, {mode}", sample.inputs, (mode,))
        yield Sample(f"{mode} special", (make.special(),), (mode,))
        yield Sample(f"{mode} any size", (make.any_size(999),), (mode,))


_ROUND = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "even": "rint"}


@elementwise(
    "a rounded to an integer: down, up, towards zero, or to the nearest (even of two).",
    "a ; mode:floor,ceil,trunc,even",
    budget=EXACT,
    rule=_round_rule,
    samples=rounding,
    benchmarks=mebi(floats, attributes=("even",)),
)
def round_(xp: Any, a: Array, mode: str) -> Array:
    return getattr(xp, _ROUND[mode])(a)
