# SPDX-License-Identifier: MIT
"""Steps with numbers among their arguments that decide, or that pick elements."""

from __future__ import annotations

import bisect
import decimal
import itertools
import json
import math
import operator
import statistics
import struct
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from autocalc import nn


class Numbers(NamedTuple):
    """A step with a number, and the numbers that it is called with."""

    step: Callable[[Any, Any], Any]
    numbers: tuple[Any, ...]


HALVES = (0.6, 0.7, 0.8, 0.9, 0.4, 0.3, 0.8)

PLACES = (1, 2, 3, 0, 4, 5, 2, 5)
SCALES = [2.0, 2.0, 2.0, 2.0, 7.0, 3.0]
DISPATCH = [float, float, float, float, lambda x: x * 3, lambda x: x - 9]
MODULES = [*[nn.Tanh()] * 4, nn.Sigmoid(), nn.ReLU()]


def same_number(t: int) -> int:
    return t


class Kept:
    shared = SCALES

    @property
    def own(self) -> list[float]:
        return self.scales

    def __init__(self) -> None:
        self.scales = SCALES
        self.matrix = [SCALES, SCALES[::-1]]

    def get(self, place: int) -> float:
        return self.scales[place]


KEPT = Kept()


def picked_by_what_is_kept(a: Any, t: int) -> Any:
    def number() -> int:
        return t

    return a * SCALES[number()]


def picked_by_a_loop(a: Any, t: int) -> Any:
    for i in (t, t):
        a = a * SCALES[i]
    return a


def picked_by_a_name(a: Any, t: int) -> Any:
    place = t * 1
    last = place
    return a * SCALES[last]


def picked_of_two(a: Any, t: int) -> Any:
    i, scale = t, 2.0
    scale *= SCALES[i if a.ndim else 0]
    return a * scale


#: Numbers of which the first lead to the same in all functions of `IN_C`.
LATE = (30, 31, 32, 33, 3, 8, 5, 10, 20, 1, 44)

RATES = {"decay": 0.9, "rates": (0.05, 0.1)}
SETTINGS = SimpleNamespace(decay=0.9)

#: They take the value of an integer without asking it.
IN_C: tuple[Callable[[Any], Any], ...] = (
    lambda t: 2.0 if 0.9**t < 0.1 else 1.0,
    lambda t: min(1.0, 0.05 * t),
    lambda t: min(1.0, 0.05 * (t + 1)),
    lambda t: min(1.0, 0.05 * (max(3, t))),
    lambda t: max(-10.0, 0.5 - t),
    lambda t: 2.0 if 9.0 % t > 8 else 1.0,
    lambda t: 1.0 if t > 8.5 else 2.0,
    lambda t: 1.0 if t == 8.0 else 2.0,
    lambda t: 1.0 if t in (5.0, 10.0) else 2.0,
    lambda t: min(t, 20.0),
    lambda t: min(t, 30, 20.0),
    lambda t: max(t, 8.5) if t < 9 else 9.0,
    lambda t: min(1.0, math.tau * t / 200),
    lambda t: 2.0 if RATES["decay"] ** t < 0.1 else 1.0,  # type: ignore[operator]
    lambda t: 2.0 if RATES["rates"][0] * t > 0.4 else 1.0,  # type: ignore[index]
    lambda t: 2.0 if SETTINGS.decay**t < 0.1 else 1.0,
    lambda t: min(1.0, float(np.float64(0.05) * t)),
    lambda t: min(20, len(np.arange(t))),
    lambda t: min(20, np.zeros(t).size),
    lambda t: min(20.0, float(np.full(3, t)[0])),
    lambda t: float(np.interp(t, [0, 20], [0.0, 1.0])),
    lambda t: float(np.clip(t, 0, 20)),
    lambda t: float(min(decimal.Decimal(t), 20)),
    lambda t: bisect.bisect([5.0, 10.0, 20.0], t),
    lambda t: [*range(9), *map(float, range(9, 60))].index(t) > 9,
    lambda t: len(json.dumps(t)),
    lambda t: min(20, struct.pack("i", t)[0]),
    lambda t: statistics.median([t, 20, 3]),
)

#: A program asks again what decided them.
DECIDED: tuple[Callable[[Any], Any], ...] = (
    lambda t: min(1.0, t / 20),
    lambda t: min(t**-0.5, t * 20**-1.5),
    lambda t: max(0.0, 1 - t / 30),
    lambda t: 2.0 if t / 20 > 0.2 and t / 20 < 0.9 else 1.0,
    lambda t: 2.0 if (t & 16) == 0 else 1.0,
    lambda t: 2.0 if t / 2 < t * t / 40 else 1.0,
    lambda t: 2.0 if (t >> 1) < t / 4 + 4 else 1.0,
    lambda t: 2.0 if not t >> 3 else 1.0,
    lambda t: 2.0 if t % 5 == 0 else 1.0,
    lambda t: 2.0 if 0 <= t < 9 else 1.0,
    lambda t: 2.0 if 2 < t / 2 < 9 else 1.0,
)

#: Steps that are called with numbers that differ, by the name of a line.
NUMBERS: dict[str, list[Numbers]] = {
    "6 a number that is computed with and decides": [
        Numbers(lambda a, k: a * k if k > 0.5 else a - k, HALVES),
        Numbers(lambda a, k: a * max(k, 0.5), HALVES),
        Numbers(lambda a, k: a * round(k, 1) * k, HALVES),
        Numbers(lambda a, k: a * k * (k in (0.4, 0.3)), HALVES),
        Numbers(lambda a, k: a * k * len(f"{k:.0f}"), (0.6, 0.7, 0.8, 10.0, 20.0)),
    ],
    "7 an element that an integer argument picks": [
        Numbers(lambda a, t: a * SCALES[t], PLACES),
        Numbers(lambda a, t: a * SCALES[t + 1 - 1], PLACES),
        Numbers(lambda a, t: a * tuple(SCALES)[-t], PLACES),
        Numbers(lambda a, t: a * KEPT.scales[t], PLACES),
        Numbers(lambda a, t: a * KEPT.get(t), PLACES),
        Numbers(lambda a, t: a * KEPT.shared[t], PLACES),
        Numbers(lambda a, t: a * KEPT.own[t], PLACES),
        Numbers(lambda a, t: a * SCALES[same_number(t)], PLACES),
        Numbers(picked_by_what_is_kept, PLACES),
        Numbers(lambda a, t: a * [2.0, 2.0, 2.0, 2.0, 7.0, 3.0][t], PLACES),
        Numbers(lambda a, t: a * sum(SCALES[:t]) / max(t, 1), PLACES),
        Numbers(lambda a, t: a * SCALES.__getitem__(t), PLACES),
        Numbers(lambda a, t: a * operator.itemgetter(t)(SCALES), PLACES),
        Numbers(lambda a, t: a * next(itertools.islice(SCALES, t, None)), PLACES),
        Numbers(lambda a, t: a * np.array(SCALES)[t], PLACES),
        Numbers(lambda a, t: a * KEPT.matrix[t % 2][t], PLACES),
        Numbers(lambda a, t: a * ("abbbba"[t] == "a"), PLACES),
        Numbers(lambda a, t: a * bytes([1, 1, 1, 1, 2, 3])[t], PLACES),
        Numbers(
            lambda a, t: a * len("%d" % t),  # noqa: UP031  it asks nothing
            (1, 2, 3, 4, 10, 20),
        ),
        Numbers(lambda a, t: a * sum(1 for i in range(t) if i > 2), PLACES),
        Numbers(lambda a, t: a * (len([0] * t) > 3), PLACES),
        Numbers(lambda a, t: a * DISPATCH[t](2.0), PLACES),
        Numbers(picked_by_a_loop, PLACES),
        Numbers(picked_by_a_name, PLACES),
        Numbers(picked_of_two, PLACES),
        Numbers(lambda a, t: MODULES[t](a), PLACES),
        Numbers(lambda a, t: a * {1: 2.0, 2: 2.0, 3: 2.0}.get(t, 9.0), PLACES),
    ],
    "integers that C takes, whose results are alike at first": [
        Numbers(lambda a, t, of=of: a * of(t), LATE) for of in IN_C
    ],
    "decisions by what is computed": [
        Numbers(lambda a, t, of=of: a * of(t), order)
        for of in DECIDED
        for order in (LATE, LATE[::-1])
    ],
}
