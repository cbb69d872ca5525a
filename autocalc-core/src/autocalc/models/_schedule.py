# SPDX-License-Identifier: MIT
"""The learning rate of each step of a training whose length is known."""

from __future__ import annotations

import math

SCHEDULES = ("cosine", "linear", "constant")


def scheduled_rate(
    step: int,
    steps: int,
    highest: float,
    schedule: str,
    *,
    warmup: int = 0,
    last: float = 0.0,
) -> float:
    """Return the learning rate of a step, counted from 0.

    The rate rises linearly for `warmup` steps.  Then it falls from `highest` to ``last
    * highest``, either along half a cosine (Loshchilov, Hutter: SGDR, 2017) or
    linearly, or it stays constant.
    """
    if step < warmup:
        return highest * (step + 1) / (warmup + 1)
    if schedule == "constant":
        return highest
    done = (step - warmup) / max(1, steps - warmup)
    left = 1 - done
    if schedule == "cosine":
        left = (1 + math.cos(math.pi * done)) / 2
    return highest * (last + (1 - last) * left)
