# SPDX-License-Identifier: MIT
"""A profiler for the time of kernels, operators and modules in each step.

::

    with ac.profiler.profile() as prof:
        for x, y in loader:
            train_step(x, y)
            prof.step()
    print(prof.table(by="module"))
    print(prof.advice())
    prof.html("profile.html")

The work (operations and bytes) is computed from the specs of the kernels.  The share of
the machine's peak performance is reported after `measure_peaks` has measured the peaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from autocalc._aliases import lookup as _lookup
from autocalc.profiler._advice import Advice, Saving
from autocalc.profiler._peaks import Peaks, measure_peaks, peaks
from autocalc.profiler._profile import profile, step
from autocalc.profiler._pytorch_names import (
    ProfilerActivity,
    kineto_available,
    record_function,
)
from autocalc.profiler._rows import Row
from autocalc.profiler._table import Table

__all__ = [
    "Advice",
    "Peaks",
    "ProfilerActivity",
    "Row",
    "Saving",
    "Table",
    "kineto_available",
    "measure_peaks",
    "peaks",
    "profile",
    "record_function",
    "step",
]

if not _TYPE_CHECKING:  # a type checker sees the names without it
    __getattr__ = _lookup(__name__)
