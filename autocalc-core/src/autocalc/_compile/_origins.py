# SPDX-License-Identifier: MIT
"""Where in a model a recorded call comes from: its operator and its module.

A replay runs neither, so the recording notes both for later readers, such as
`ac.profiler`.
"""

from __future__ import annotations

from bisect import bisect_left

from autocalc._dispatch._callers import FORWARD, Paths, Site, UserLine, caller
from autocalc._graph._node import next_serial


class Origin(UserLine):
    """A user's line, with the operator and the module that run there.

    Attributes
    ----------
    site
        The operator, and whether it runs forward, backward or in an optimizer.
    module
        The name of the module in the outermost one, ``Net.block.0``; "" outside.
    """

    site: Site = FORWARD
    module: str = ""


class Origins:
    """Finds where the calls of one recording come from.

    A call of a backward rule comes from the module that recorded its node: from that of
    the last call before the node.
    """

    def __init__(self) -> None:
        self._serials: list[int] = []
        self._modules: list[str] = []
        self._paths = Paths()

    def here(self) -> UserLine | None:
        """Return the user's line that leads to the caller, as an `Origin`."""
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
