# SPDX-License-Identifier: MIT
"""Which line of the user's program led to a call."""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple

#: AutoCalc's own files begin with this.
_OWN = __file__[: -len("_dispatch/_lines.py")]


class Line(NamedTuple):
    """A place in a user's program, and in which layer of a model, if that is asked."""

    file: str
    number: int
    function: str
    layer: str = ""

    def __str__(self) -> str:
        text = linecache.getline(self.file, self.number).strip()
        return f"{self.file}:{self.number}, in {self.function}: `{text}`."


#: Say in which layer of a model the running code is, while somebody asks for it.
layer_of: list[Callable[[], str]] = []


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside of AutoCalc that leads to this call."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def users_line() -> Line | None:
    """Return the innermost line outside of AutoCalc that leads to this call."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    if frame is None:
        return None
    code = frame.f_code
    layer = layer_of[-1]() if layer_of else ""
    return Line(code.co_filename, frame.f_lineno, code.co_name, layer)
