# SPDX-License-Identifier: MIT
"""The origin of a recorded call in a model: its operator and its module.

A replay runs neither of them.  The recording therefore notes both for later readers,
such as `ac.profiler`.
"""

from __future__ import annotations

from bisect import bisect_left

from autocalc._dispatch._callers import FORWARD, Paths, Site, UserLine, caller
from autocalc._graph._node import next_serial


class Origin(UserLine):
    """A line of the user's, with the operator and the module that run there.

    Attributes
    ----------
    site
        The operator, and whether it runs forward, backward or in an optimizer.
    module
        The module's name in the outermost module, ``Net.block.0``; "" outside of
        modules.
    """

    site: Site = FORWARD
    module: str = ""


class Origins:
    """Finds the origins of the calls of one recording.

    A call in a backward rule belongs to the module that recorded its node.  This is the
    module of the last call before the node was made.
    """

    def __init__(self) -> None:
        self._serials: list[int] = []
        self._modules: list[str] = []
        self._paths = Paths()

    def here(self) -> UserLine | None:
        """Return the user's line that led to the caller, as an `Origin`."""
        found = caller()
        if found.line is None:
            return None
        origin = Origin(*found.line)
        origin.site = found.site
        if found.node is not None:
            origin.module = self._of_node(found.node.serial)
            return origin
        origin.module = self._paths.title(found.modules)
        self._serials.append(next_serial())
        self._modules.append(origin.module)
        return origin

    def _of_node(self, serial: int) -> str:
        at = bisect_left(self._serials, serial)
        return self._modules[at - 1] if at else ""
