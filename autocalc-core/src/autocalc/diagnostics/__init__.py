# SPDX-License-Identifier: MIT
"""Where a training goes wrong, and what a model is made of.

`tape` and `summary` show graph and model as tables; `activation_stats`,
`gradient_health` and `watch` say which layers look wrong; `find_nonfinite` names the
operator that made the first NaN.  Nothing is looked at outside of their blocks and
calls, and that costs nothing.  In their blocks compiled functions run eagerly: a replay
runs no Python that could look.
"""

from __future__ import annotations

from autocalc.diagnostics._activations import ActivationStats, activation_stats
from autocalc.diagnostics._flags import Flag
from autocalc.diagnostics._gradients import Gradient, GradientHealth, gradient_health
from autocalc.diagnostics._live import Held, Snapshot
from autocalc.diagnostics._log import read_log
from autocalc.diagnostics._nonfinite import NonFinite, Operand, find_nonfinite
from autocalc.diagnostics._plots import plot
from autocalc.diagnostics._summary import Layer, Summary, summary
from autocalc.diagnostics._tally import Activation
from autocalc.diagnostics._tape import Entry, Tape, tape
from autocalc.diagnostics._watching import Step, Watch, watch

__all__ = [
    "Activation",
    "ActivationStats",
    "Entry",
    "Flag",
    "Gradient",
    "GradientHealth",
    "Held",
    "Layer",
    "NonFinite",
    "Operand",
    "Snapshot",
    "Step",
    "Summary",
    "Tape",
    "Watch",
    "activation_stats",
    "find_nonfinite",
    "gradient_health",
    "plot",
    "read_log",
    "summary",
    "tape",
    "watch",
]
