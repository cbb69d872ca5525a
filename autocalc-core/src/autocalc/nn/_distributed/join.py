# SPDX-License-Identifier: MIT
"""Uneven inputs: ranks without data join collectives until all ranks are done."""

from __future__ import annotations

from typing import NamedTuple

from autocalc import distributed
from autocalc._ops.creation.constants import zeros
from autocalc._tensor.dtypes import int32
from autocalc.distributed import ProcessGroup
from autocalc.errors import DistributedError


class Turn(NamedTuple):
    """The members of a step: the ranks with data, and whether they average.

    The ranks are given by their numbers in the group.
    """

    active: list[int]
    syncs: bool


def take_turn(group: ProcessGroup, active: bool, syncs: bool) -> Turn:
    """Tell all ranks whether this one has data and averages; return their answers."""
    size = group.size()
    flags = zeros(size + 1, dtype=int32)
    if active:
        flags[group.rank()] = 1
        flags[size] = int(syncs)
    distributed.all_reduce(flags, group=group)
    counts = flags.tolist()
    return Turn([r for r in range(size) if counts[r]], counts[size] > 0)


def check_all_active(where: str, group: ProcessGroup, turn: Turn) -> None:
    """Raise on all ranks if one of them has no more data."""
    size = group.size()
    gone = [group.ranks[r] for r in range(size) if r not in turn.active]
    if gone:
        raise DistributedError(
            f"{where}: rank {', '.join(map(str, gone))} has no more data, and "
            "throw_on_early_termination is True. Give all ranks equally many batches, "
            "or do not set it."
        )
