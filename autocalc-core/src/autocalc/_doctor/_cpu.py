# SPDX-License-Identifier: MIT
"""The CPU: what it can do, its threads and its memories."""

from __future__ import annotations

import os
from collections.abc import Iterator

from autocalc._dispatch.machine.cpu import cpu_features, cpu_name, detected_features
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.discovery import registry
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine, numbers

_CPUS = "sys/devices/system/cpu"


def features(_machine: Machine) -> Iterator[Finding]:
    """Name the CPU, and what kernel sets may use of it."""
    wanted = registry().named_features
    usable, detected = cpu_features(), detected_features()
    asked = ", ".join(sorted(wanted & usable)) or "none that a kernel set asks for"
    yield Finding("ok", "CPU", f"{cpu_name()}; features that kernels use: {asked}")
    hidden = sorted(wanted & (detected - usable))
    if hidden:
        yield Finding(
            "warning",
            "CPU",
            f"AUTOCALC_CPU_FEATURES hides {', '.join(hidden)}",
            "Unset AUTOCALC_CPU_FEATURES; it is meant for tests.",
        )


def smt(machine: Machine) -> Iterator[Finding]:
    """Compare the thread budget with the cores that are really there."""
    usable = affinity()
    groups = {_siblings(machine, cpu) for cpu in usable}
    if None in groups or not usable:
        yield Finding("note", "SMT", "the system does not say which CPUs share a core")
        return
    physical, budget = len(groups), get_num_threads()
    if physical == len(usable):
        yield Finding("ok", "SMT", "each usable CPU is a core of its own")
    elif budget > physical:
        yield Finding(
            "note",
            "SMT",
            f"{budget} threads run on {physical} cores: two threads of a core share "
            f"its vector units, so that products gain little and may lose",
            f"Compare with ac.set_num_threads({physical}) or "
            f"AUTOCALC_NUM_THREADS={physical}.",
        )
    else:
        text = f"{budget} threads on {physical} cores of two or more CPUs each"
        yield Finding("ok", "SMT", text)


def affinity() -> frozenset[int]:
    """Return the CPUs that this process may run on; empty where that is unknown."""
    if not hasattr(os, "sched_getaffinity"):
        return frozenset()
    return frozenset(os.sched_getaffinity(0))


def _siblings(machine: Machine, cpu: int) -> frozenset[int] | None:
    """Return the CPUs of the core that a CPU belongs to."""
    text = machine.read(f"{_CPUS}/cpu{cpu}/topology/thread_siblings_list")
    return None if text is None else frozenset(numbers(text))


def numa(machine: Machine) -> Iterator[Finding]:
    """Look whether the threads may be far from their memory."""
    online = machine.read("sys/devices/system/node/online")
    if online is None:
        yield Finding("note", "NUMA", "the system does not say where its memory is")
        return
    usable = affinity()
    used = [n for n in sorted(numbers(online)) if usable & _cpus_of(machine, n)]
    if len(used) <= 1:
        yield Finding("ok", "NUMA", "all usable CPUs are at one memory")
        return
    yield Finding(
        "note",
        "NUMA",
        f"the usable CPUs are at {len(used)} memories (nodes "
        f"{', '.join(map(str, used))}); reading from another one is slower",
        f"Run one process for each: numactl --cpunodebind={used[0]} "
        f"--membind={used[0]} python ...",
    )


def _cpus_of(machine: Machine, node: int) -> set[int]:
    return numbers(machine.read(f"sys/devices/system/node/node{node}/cpulist") or "")
