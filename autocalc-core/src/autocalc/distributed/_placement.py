# SPDX-License-Identifier: MIT
"""Divide the threads and cores of a host among its ranks."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from autocalc._dispatch.machine.cpu import usable_cores
from autocalc._dispatch.machine.thread_budget import chosen_budget, environments_budget
from autocalc._dispatch.plugins.threads import apply_budget
from autocalc.distributed import _mpi
from autocalc.distributed._reduce_op import ReduceOp

#: The number of cores that a CPU mask can contain.
_CORES = 4096


def place(host: Any) -> bool:
    """Give this rank its share of cores and threads.

    Ranks that the launcher bound to different cores keep them.  A number of threads
    that the user set is kept as well.  Returns whether there is a core for each rank.

    Parameters
    ----------
    host
        MPI's communicator of the ranks of this machine.
    """
    if host.Get_size() == 1:
        return True
    cores = usable_cores()
    enough = True
    if not _are_apart(host):
        enough = cores >= host.Get_size()
        cores = max(1, cores // host.Get_size())
        _pin(host.Get_rank(), host.Get_size())
    if chosen_budget() is None and environments_budget() is None:
        apply_budget(cores)
    return enough


def uses_network(host: Any, size: int) -> bool:
    """Return whether some of the `size` ranks can only communicate over a network.

    This holds for ranks on several machines, and for ranks in different containers of
    one machine.
    """
    if host.Get_size() < size:
        return True
    network = Path("/proc/self/ns/net")
    if not network.exists():  # not Linux
        return False
    space = network.stat().st_ino
    ends = np.array([space, -space], np.int64)
    most = np.empty_like(ends)
    host.Allreduce(ends, most, _mpi.op_of(ReduceOp.MAX))
    return bool(most[0] != -most[1])


def share(cores: list[int], rank: int, size: int) -> list[int]:
    """Return the cores of one of `size` ranks: adjacent ones, equally many for each.

    If there are fewer cores than ranks, each rank gets all cores.
    """
    if len(cores) < size:
        return cores
    first, last = len(cores) * rank // size, len(cores) * (rank + 1) // size
    return cores[first:last]


def _are_apart(host: Any) -> bool:
    """Return whether the ranks' sets of cores are disjoint."""
    if not hasattr(os, "sched_getaffinity"):
        return False
    mask = np.zeros(_CORES, np.int32)
    mask[sorted(os.sched_getaffinity(0))] = 1
    counts = np.empty_like(mask)
    host.Allreduce(mask, counts)
    return int(counts.max()) <= 1


def _pin(rank: int, size: int) -> None:
    """Bind all threads of this process to this rank's share of the cores."""
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    own = share(cores, rank, size)
    if own == cores:
        return
    tasks = Path("/proc/self/task")
    for task in [int(p.name) for p in tasks.iterdir()] if tasks.exists() else [0]:
        # The thread may have ended, or the system may refuse the binding.
        with suppress(OSError):
            os.sched_setaffinity(task, own)
