# SPDX-License-Identifier: MIT
"""The process's random numbers: their seed, their state, and blocks that keep it.

Examples
--------
>>> import autocalc as ac
>>> ac.random.manual_seed(3).initial_seed()
3
"""

from __future__ import annotations

from autocalc._ops.random.rng_state import (
    fork_rng,
    get_rng_state,
    initial_seed,
    seed,
    set_rng_state,
)
from autocalc._tensor.generator import default_generator, manual_seed

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
