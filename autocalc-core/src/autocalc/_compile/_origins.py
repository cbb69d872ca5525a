# SPDX-License-Identifier: MIT
"""Where in a model a recorded call comes from: its operator and its module.

A replay runs neither, so that whoever asks what a program's time goes into has to be
told by the recording: `ac.profiler` does.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from types import FrameType
from typing import Any
from weakref import ref

from autocalc._compile._sites import FORWARD, GRADIENT_SUM, Site, site_of
from autocalc._graph._lines import Line, users_line
from autocalc._graph._node import next_serial
from autocalc._graph._walk import Walk
from autocalc.nn import Module

_CALL = Module.__call__.__code__
_VISIT = Walk.visit.__code__
_SUMS = frozenset({Walk.add.__code__, Walk.add_part.__code__, Walk.join.__code__})


class Origin(Line):
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
    """Tells where the calls of one recording come from.

    A call of a backward rule comes from the module that recorded its node: from that of
    the last call before the node.
    """

    def __init__(self) -> None:
        self._serials: list[int] = []
        self._modules: list[str] = []
        self._names: dict[int, tuple[ref[Any], dict[int, str]]] = {}
        self._titles: dict[str, int] = {}

    def here(self) -> Line | None:
        """Return the user's line that leads to the caller, as an `Origin`."""
        line = users_line()
        if line is None:
            return None
        origin = Origin(*line)
        origin.site, origin.module = self._told_by(sys._getframe(1))
        return origin

    def _told_by(self, innermost: FrameType) -> tuple[Site, str]:
        modules: list[Any] = []
        sums = False
        frame: FrameType | None = innermost
        while frame is not None:
            code = frame.f_code
            if code is _CALL:
                modules.append(frame.f_locals["self"])
            elif code in _SUMS:
                sums = True
            elif code is _VISIT and not modules:
                node = frame.f_locals["node"]
                site = GRADIENT_SUM if sums else Site(node.op.name, "backward")
                return site, self._of_node(node.serial)
            frame = frame.f_back
        module = self._name(modules[0], modules[-1]) if modules else ""
        self._serials.append(next_serial())
        self._modules.append(module)
        return site_of(innermost), module

    def _of_node(self, serial: int) -> str:
        at = bisect_left(self._serials, serial)
        return self._modules[at - 1] if at else ""

    def _name(self, module: Any, root: Any) -> str:
        """Return what a module is called in the outermost one that runs."""
        known = self._names.get(id(root))
        if known is None or known[0]() is not root:
            title = type(root).__name__
            count = self._titles[title] = self._titles.get(title, 0) + 1
            title += f" #{count}" * (count > 1)
            names = {id(one): f"{title}.{name}" for name, one in root.named_modules()}
            names[id(root)] = title
            known = self._names[id(root)] = ref(root), names
        return known[1].get(id(module)) or type(module).__name__
