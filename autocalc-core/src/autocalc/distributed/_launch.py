# SPDX-License-Identifier: MIT
"""Read the number of processes and this process's rank from the environment."""

from __future__ import annotations

from typing import NamedTuple

from autocalc._config import launched

#: Variables of launchers that start MPI: (launcher, size, rank).
_MPI = (
    ("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("mpirun", "PMI_SIZE", "PMI_RANK"),
    ("Slurm's srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
)


class Launch(NamedTuple):
    """The settings of a launcher: its name, the number of processes, and this rank."""

    launcher: str
    size: int
    rank: int


def mpi_launch() -> Launch | None:
    """Return the settings of `mpirun` or `srun`, if one started this process."""
    for launcher, size, rank in _MPI:
        found = _number(size), _number(rank)
        if found[0] is not None and found[1] is not None:
            return Launch(launcher, found[0], found[1])
    return None


def _number(name: str) -> int | None:
    value = launched(name)
    is_count = value is not None and value.isdecimal() and len(value) < 20
    return int(value) if is_count else None  # type: ignore[arg-type]  # a text then
