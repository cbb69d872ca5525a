# SPDX-License-Identifier: MIT
"""Check before a collective runs that all ranks make the same call."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import Any

import numpy as np

from autocalc._config import settings
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.distributed._process_group import ProcessGroup
from autocalc.distributed._work import Steps, Work
from autocalc.errors import DistributedError, DTypeError

#: The length of a call's description in bytes; longer ones are cut.
_LENGTH = 256


class DebugLevel(Enum):
    """The calls that ranks compare: none for `OFF` and `INFO`, all for `DETAIL`."""

    OFF = "off"
    INFO = "info"
    DETAIL = "detail"


_chosen: list[DebugLevel] = []


def get_debug_level() -> DebugLevel:
    """Return the level that was set, or the level in ``AUTOCALC_DISTRIBUTED_DEBUG``."""
    return _chosen[0] if _chosen else DebugLevel(settings().distributed_debug)


def set_debug_level(level: DebugLevel) -> None:
    """Set whether ranks compare their calls; the level must be equal on all ranks.

    Raises
    ------
    DTypeError
        If `level` is not a `DebugLevel`.
    """
    given: Any = level
    if not isinstance(given, DebugLevel):
        message = f"set_debug_level: `level` is {short(level)}; give a DebugLevel."
        raise DTypeError(message)
    _chosen[:] = [level]


def check_same(
    where: str, group: ProcessGroup, settled: str = "", **tensors: Tensor
) -> None:
    """Raise on all ranks if their calls differ, provided that the level is `DETAIL`.

    Parameters
    ----------
    where, settled
        The name of the call, and the other arguments that must be equal on all ranks.
    group
        The group of ranks.
    **tensors
        The tensors; their shapes and dtypes must be equal on all ranks.
    """
    if group.size() == 1 or get_debug_level() is not DebugLevel.DETAIL:
        return
    words = [f"`{name}` {tuple(x.shape)} {x.dtype.name}" for name, x in tensors.items()]
    mine = f"{where}({', '.join([*words, *([settled] if settled else [])])})"
    advice = "Shapes, dtypes and the order of calls must be the same on all ranks."
    compare(where, group, mine, advice)


def compare(where: str, group: ProcessGroup, mine: str, advice: str) -> None:
    """Raise on all ranks if their calls differ."""
    calls = _calls(where, group, mine)
    if len(set(calls)) == 1:
        return
    usual = Counter(calls).most_common(1)[0][0]
    named = list(zip(group.ranks, calls, strict=True))
    others = "; ".join(f"rank {r}: {c}" for r, c in named if c != usual)
    first = group.ranks[calls.index(usual)]
    raise DistributedError(
        f"{where}: the ranks have made different calls. Rank {first}: {usual}; "
        f"{others}. {advice}"
    )


def _calls(where: str, group: ProcessGroup, mine: str) -> list[str]:
    """Return the calls of all ranks."""
    text = mine.encode()[:_LENGTH].ljust(_LENGTH, b"\0")
    own = np.frombuffer(text, np.uint8).copy()
    found = np.zeros((group.size(), _LENGTH), np.uint8)

    def exchange() -> Steps:
        yield [group.checks.Iallgather(own, found)]

    Work(where, group, exchange()).wait()
    return [bytes(row).rstrip(b"\0").decode(errors="replace") for row in found]
