# SPDX-License-Identifier: MIT
"""Which names a program asked for that are not there, and in which lines."""

from __future__ import annotations

import atexit
import sys
from pathlib import Path
from types import FrameType

from autocalc import _config

_OURS = str(Path(__file__).parents[1])

#: "torch.name" -> the lines that asked for it, in their order.
asked: dict[str, dict[str, None]] = {}


def note(name: str) -> None:
    """Keep a name, and the line of the program that asks for it."""
    line = _line(sys._getframe(1))
    asked.setdefault(name, {})[line] = None


def _line(frame: FrameType | None) -> str:
    """Return the innermost line outside of AutoCalc and of Python's imports."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_OURS, "<frozen importlib")):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "unknown"


def text() -> str:
    """Return the report: a name, and below it its lines."""
    names = [
        "\n".join([name, *(f"    {line}" for line in asked[name])])
        for name in sorted(asked)
    ]
    head = f"autocalc.torch: {len(names)} names were asked for that are not there"
    return "\n".join([head, *names]) + "\n"


def _write() -> None:
    where = _config.settings().torch_report
    if not where or not asked:
        return
    if where == "-":
        sys.stderr.write(text())
        return
    with Path(where).open("a", encoding="utf-8") as file:
        file.write(text())


def start() -> None:
    """Write the report when this process ends, if one is asked for."""
    atexit.unregister(_write)
    atexit.register(_write)
