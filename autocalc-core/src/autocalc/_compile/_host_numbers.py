# SPDX-License-Identifier: MIT
"""Numbers in a recording that the host computes at each replay.

A step of an optimizer computes numbers from its settings and a count, such as
``lr / (1 - beta1**t)``.  In a recording they are floats that operators take like any
other.  Each becomes an array that the host fills in each replay, at its place among the
kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autocalc._compile._tracked import Formula, Span
from autocalc._compile._tracked_float import TrackedFloat
from autocalc.errors import CompileError

#: Runs Python code that fills arrays, now and at the same place of each replay.
OnHost = Callable[[Callable[[], None], Sequence[Any]], None]


class HostSpan(Span):
    """The span of a number that the host computes; it may have any value."""

    __slots__ = ("_cells", "_now", "_on_host", "_place")

    hosted = True

    def __init__(self, now: list[Any], place: int, on_host: OnHost) -> None:
        super().__init__(now[place])
        self._now, self._place, self._on_host = now, place, on_host
        self._cells: dict[Any, Any] = {}

    def keep(self, low: float, high: float) -> None:
        """Refuse a decision that depends on the number."""
        if not self.closed:
            raise CompileError(
                "compile: Python code makes a decision with a number that differs "
                f"from step to step ({self.value}), which a replay would not repeat. "
                "Use the number only for computing, or run the step eagerly: "
                "ac.compile(step, fallback=True)."
            )
        del low, high

    def decide(self, question: Formula, answer: Any) -> Any:
        """Refuse a decision that depends on something computed from the number."""
        del question
        self.pin()
        return answer

    def cell(self, formula: Formula, dtype: Any, make: Any) -> Any:
        """Return an array of the number that `formula` computes from this one."""
        del make
        key = formula, dtype
        if key not in self._cells:
            array = self._cells[key] = np.zeros((), dtype)

            def fill() -> None:
                array[()] = formula(self._now[self._place])

            self._on_host(fill, (array,))
        return self._cells[key]


def numbers_in(now: list[Any], on_host: OnHost) -> tuple[TrackedFloat, ...]:
    """Return the numbers of a list whose elements the host sets at each replay."""
    spans = [HostSpan(now, i, on_host) for i in range(len(now))]
    return tuple([TrackedFloat(span, span.value) for span in spans])
