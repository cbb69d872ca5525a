# SPDX-License-Identifier: MIT
"""Limits of this process by the system: cores against threads, and memory."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

from autocalc._dispatch.machine.cgroup import cpu_quota, memory_left, memory_limit
from autocalc._dispatch.machine.cpu import affine_cores, usable_cores
from autocalc._dispatch.machine.thread_budget import get_num_threads, over
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine

#: Less free memory than this share of what is allowed is worth a warning.
SCARCE = 0.1


def cores(machine: Machine) -> Iterator[Finding]:
    """Name affinity and cgroup quota."""
    affine, there = affine_cores(), os.cpu_count() or 1
    quota = cpu_quota(machine.root / "sys/fs/cgroup", machine.root / "proc/self/cgroup")
    if affine < there:
        yield Finding(
            "note",
            "affinity",
            f"this process may run on {affine} of {there} CPUs",
            "If that is not meant: taskset, Docker's --cpuset-cpus and batch systems "
            "set it.",
        )
    else:
        yield Finding("ok", "affinity", f"all {there} CPUs may be used")
    if quota < affine:
        rest = "" if quota == int(quota) else f"; AutoCalc uses {int(quota)} threads"
        yield Finding(
            "note",
            "CPU quota",
            f"the cgroup grants {quota:g} cores' time on {affine} CPUs{rest}",
            "Docker's --cpus and Kubernetes' limits.cpu set it; a whole number wastes "
            "nothing.",
        )
    elif math.isinf(quota):
        yield Finding("ok", "CPU quota", "none")
    else:
        yield Finding("ok", "CPU quota", f"{quota:g} cores, no fewer than CPUs")


def threads(_machine: Machine) -> Iterator[Finding]:
    """Compare the thread budget with the usable cores."""
    budget, usable = get_num_threads(), usable_cores()
    text = over(budget)
    if text:
        what, _, remedy = text.rpartition(". ")
        yield Finding("warning", "threads", what, remedy)
    elif budget < usable:
        yield Finding(
            "note",
            "threads",
            f"{budget} of {usable} usable cores compute",
            f"If that is not meant: AUTOCALC_NUM_THREADS={usable}, or leave it out.",
        )
    else:
        yield Finding("ok", "threads", f"{budget}, as many as usable cores")


def load(_machine: Machine) -> Iterator[Finding]:
    """Look whether other programs use the cores."""
    if not hasattr(os, "getloadavg"):
        yield Finding("note", "load", "the system does not say how busy it is")
        return
    busy, there = os.getloadavg()[0], os.cpu_count() or 1
    if busy > there:
        yield Finding(
            "note",
            "load",
            f"{busy:.1f} threads wanted the {there} CPUs in the last minute: other "
            f"programs slow this one down, and measured times say little",
            "Close other programs, or wait for them, before measuring.",
        )
    else:
        yield Finding("ok", "load", f"{busy:.1f} threads on {there} CPUs")


def memory(machine: Machine) -> Iterator[Finding]:
    """Name the memory, its cgroup limit, and whether it runs out."""
    total = machine.field("proc/meminfo", "MemTotal")
    free = machine.field("proc/meminfo", "MemAvailable")
    if total is None or free is None:
        yield Finding("note", "memory", "the system does not say how much there is")
        return
    there, left = 1024 * total, 1024 * free
    places = machine.root / "sys/fs/cgroup", machine.root / "proc/self/cgroup"
    limit, allowed = memory_limit(*places), memory_left(*places)
    bound = there if limit is None else min(limit, there)
    told = f"{_gib(left)} of {_gib(there)} are free"
    if limit is not None and limit < there:
        told += f"; the cgroup allows {_gib(limit)}, above which the process is killed"
    if allowed is not None:
        left = min(left, allowed)
        told += f", and {_gib(allowed)} of that are left"
    if left < SCARCE * bound:
        yield Finding(
            "warning",
            "memory",
            told,
            "Close other programs, use smaller batches, or give `limit` to ac.compile.",
        )
    else:
        yield Finding("ok" if limit is None else "note", "memory", told)


def _gib(nbytes: int) -> str:
    return f"{nbytes / 2**30:.1f} GiB"
