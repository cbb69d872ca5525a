# SPDX-License-Identifier: MIT
"""A report of absent names that a program requested, with the lines of code."""

from __future__ import annotations

import atexit
import sys
from pathlib import Path
from types import FrameType

from autocalc import _config

_OURS = str(Path(__file__).parents[1])

#: Maps "torch.name" to the lines that requested it, in order.
asked: dict[str, dict[str, None]] = {}


def note(name: str) -> None:
    """Store a name, and the line of the program that requests it."""
    line = _line(sys._getframe(1))
    asked.setdefault(name, {})[line] = None


def _line(frame: FrameType | None) -> str:
    """Return the innermost line outside of AutoCalc and of Python's import system."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_OURS, "<frozen importlib")):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return "unknown"


def text() -> str:
    """Return the report: each name, followed by its lines."""
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
    """Write the report when this process ends, if a report is requested."""
    atexit.unregister(_write)
    atexit.register(_write)
