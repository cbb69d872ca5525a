# SPDX-License-Identifier: MIT
"""What tests take of the dispatcher: its choices, its records, the machine it sees.

Where core keeps these is known here alone.
"""

from __future__ import annotations

from autocalc import _config as config
from autocalc._dispatch._callers import FORWARD, GRADIENT_SUM, Site
from autocalc._dispatch.engine import eager, native
from autocalc._dispatch.machine import cpu, kept_files, thread_budget
from autocalc._dispatch.machine.cpu import detected_features
from autocalc._dispatch.plugins import discovery, records, threads
from autocalc._dispatch.plugins.discovery import Plugin, Refusal, Registry, registry
from autocalc._dispatch.selection import tuning
from autocalc._dispatch.selection.arrays import arrays, constant, reshaped_view
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.provided import provided
from autocalc._dispatch.selection.select import MAX_DECISIONS, Decomposed, decomposed
from autocalc._dispatch.selection.state import PROCESS, current

__all__ = [
    "FORWARD",
    "GRADIENT_SUM",
    "MAX_DECISIONS",
    "PROCESS",
    "Decomposed",
    "KernelCall",
    "Plugin",
    "Refusal",
    "Registry",
    "Site",
    "arrays",
    "config",
    "constant",
    "cpu",
    "current",
    "decomposed",
    "detected_features",
    "discovery",
    "eager",
    "kept_files",
    "native",
    "provided",
    "records",
    "registry",
    "reshaped_view",
    "thread_budget",
    "threads",
    "tuning",
]
