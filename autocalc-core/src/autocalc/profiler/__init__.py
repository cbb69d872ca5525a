# SPDX-License-Identifier: MIT
"""Where the time of a step goes: kernels, operators, modules, and the machine's roof.

::

    with ac.profiler.profile() as prof:
        for x, y in loader:
            train_step(x, y)
            prof.step()
    print(prof.table(by="module"))
    print(prof.advice())
    prof.html("profile.html")

Work (operations and bytes) is what the kernels' specs say.  The share of the machine's
roof is known once `measure_peaks` has measured it.
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

if not _TYPE_CHECKING:  # a type checker knows the names that exist
    __getattr__ = _lookup(__name__)
