# SPDX-License-Identifier: MIT
"""Tools that find problems in training and describe models.

`tape` and `summary` show the graph and the model as tables; `activation_stats`,
`gradient_health` and `watch` report layers with suspicious values; `find_nonfinite`
names the operator that made the first NaN.  Outside of their blocks and calls, these
tools check nothing and cost nothing.  Inside their blocks, compiled functions run
eagerly, because a replay runs no Python code that could check values.
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
