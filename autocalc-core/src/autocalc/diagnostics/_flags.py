# SPDX-License-Identifier: MIT
"""Problems that diagnostics find, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autocalc._dispatch._callers import UserLine
from autocalc.diagnostics._table import place


@dataclass(frozen=True)
class Flag:
    """One problem that a diagnostic found.

    Attributes
    ----------
    kind
        ``"dead"``, ``"collapse"``, ``"saturated"``, ``"nonfinite"``, ``"vanishing"``,
        ``"exploding"``, ``"zero"``, ``"missing"`` or ``"update"``.
    layer
        The dotted name of the module or parameter, in the form that `get_submodule`
        takes; "" for the model itself.
    value, threshold
        The measured value, and the limit at which it is flagged.
    advice
        A sentence that says where to look next.
    module
        The class of the module, or the operator; "" if unknown.
    line
        The line of the user's program that ran the layer; None if unknown.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(3, 2)
    >>> (1e6 * net(ac.ones(4, 3))).sum().backward()
    >>> flag = ac.diagnostics.gradient_health(net).flags[0]
    >>> flag.kind, flag.layer, flag.value > flag.threshold
    ('exploding', 'weight', True)
    """

    kind: str
    layer: str
    value: float
    threshold: float
    advice: str
    module: str = ""
    line: UserLine | None = None

    def __str__(self) -> str:
        named = f"{self.layer} ({self.module})" if self.module else self.layer
        where = named if self.layer else self.module
        at = f" at {place(self.line)}" if self.line else ""
        measured = f"{self.value:.3g}, threshold {self.threshold:.3g}"
        return f"{self.kind}: {where}{at}: {measured}. {self.advice}"


def told(flags: Iterable[Flag]) -> list[str]:
    """Return the lines that describe the flags below a table."""
    lines = [f"! {flag}" for flag in flags]
    return lines or ["Nothing is flagged."]
