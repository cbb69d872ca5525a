# SPDX-License-Identifier: MIT
"""What tests take of the dispatcher: its choices, its records, the machine it sees.

Where core keeps these is known here alone.
"""

from __future__ import annotations

from autocalc import _config as config
from autocalc._dispatch._callers import FORWARD, GRADIENT_SUM, Site
from autocalc._dispatch.device.slice_ranges import common_storage, slice_ranges
from autocalc._dispatch.engine import eager, native
from autocalc._dispatch.engine.keys import key_of
from autocalc._dispatch.locks import lock, lock_files
from autocalc._dispatch.machine import cgroup, cpu, kept_files, thread_budget
from autocalc._dispatch.machine.cpu import detected_features
from autocalc._dispatch.plugins import (
    compatibility,
    discovery,
    precision,
    records,
    threads,
    trial,
    trust,
)
from autocalc._dispatch.plugins.discovery import Plugin, Refusal, Registry, registry
from autocalc._dispatch.plugins.many_dims import joined
from autocalc._dispatch.selection import tuning
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.provided import provided
from autocalc._dispatch.selection.reshaping import reshaped_view
from autocalc._dispatch.selection.select import (
    MAX_DECISIONS,
    Decomposed,
    Selection,
    decomposed,
    find_set,
)
from autocalc._dispatch.selection.shadow import shadowed
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
    "Selection",
    "Site",
    "arrays",
    "cgroup",
    "common_storage",
    "compatibility",
    "config",
    "constant",
    "cpu",
    "current",
    "decomposed",
    "detected_features",
    "discovery",
    "eager",
    "find_set",
    "joined",
    "kept_files",
    "key_of",
    "lock",
    "lock_files",
    "native",
    "precision",
    "provided",
    "records",
    "registry",
    "reshaped_view",
    "shadowed",
    "slice_ranges",
    "thread_budget",
    "threads",
    "trial",
    "trust",
    "tuning",
]
