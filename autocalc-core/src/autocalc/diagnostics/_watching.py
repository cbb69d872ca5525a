# SPDX-License-Identifier: MIT
"""Watch the activations, gradients and updates of training steps."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc._dispatch._callers import UserLine, users_line
from autocalc.diagnostics._activations import ActivationStats, activation_stats
from autocalc.diagnostics._arguments import (
    check_count,
    check_model,
    check_path,
    check_threshold,
)
from autocalc.diagnostics._calls import Seen, calls_seen
from autocalc.diagnostics._flags import Flag, told
from autocalc.diagnostics._gradients import GradientHealth, moved, wanted
from autocalc.diagnostics._log import append
from autocalc.diagnostics._table import Report, Row, plain
from autocalc.diagnostics._tally import Activation
from autocalc.errors import ArgumentError
from autocalc.nn import Module

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(repr=False)
class Step(Report):
    """The diagnostics of one training step.

    Attributes
    ----------
    step
        The number of the step, from 0.
    activations : list of Activation
        The statistics of the layers' outputs.
    gradients : GradientHealth
        The statistics of the parameters' gradients and updates.
    flags : list of Flag
        The problems found, those of activations first.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(4, 2)
    >>> watch = ac.diagnostics.watch(net)
    >>> with watch:
    ...     net(ac.ones(8, 4)).sum().backward()
    >>> step = watch.report
    >>> step.step, [row.name for row in step.gradients.rows]
    (0, ['weight', 'bias'])
    """

    step: int
    activations: list[Activation]
    gradients: GradientHealth
    flags: list[Flag]

    def _title(self) -> str:
        return f"Step {self.step}. {self.gradients._title()}"

    def _columns(self) -> Row:
        return self.gradients._columns()

    def _cells(self) -> list[Row]:
        return self.gradients._cells()

    def _notes(self) -> list[str]:
        return told(self.flags)


class Watch:
    """Examines training steps; `watch` returns it.

    Attributes
    ----------
    report : Step or None
        The report of the last watched step; None before the first.
    steps
        The number of steps so far.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(4, 2)
    >>> watch = ac.diagnostics.watch(net, every=2)
    >>> for _ in range(4):
    ...     with watch:
    ...         net(ac.ones(8, 4)).sum().backward()
    >>> watch.steps, watch.report.step
    (4, 2)
    """

    def __init__(
        self, model: Module, log: Path | None, every: int, limits: dict[str, float]
    ) -> None:
        self.report: Step | None = None
        self.steps = 0
        self._model = model
        self._log = log
        self._every = every
        self._limits = limits
        self._now: _Looking | None = None

    @property
    def flags(self) -> list[Flag]:
        """The problems in the last watched step."""
        return [] if self.report is None else self.report.flags

    def __enter__(self) -> Self:
        if self._now is not None:
            message = (
                "watch: the `with` block was entered a second time; leave it before "
                "the next step."
            )
            raise ArgumentError(message)
        if self.steps % self._every == 0:
            self._now = _Looking(self._model)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        looking, self._now = self._now, None
        step, self.steps = self.steps, self.steps + 1
        if looking is None:
            return
        looking.close()
        if error is None:
            self.report = looking.report(step, self._limits)
            if self._log is not None:
                append(self._log, plain(self.report))

    def __repr__(self) -> str:
        return "watch: no step yet." if self.report is None else repr(self.report)


class _Looking:
    """The data that are collected in one step."""

    def __init__(self, model: Module) -> None:
        self.params = wanted(model)
        self.before = {n: p._array.astype(np.float64) for n, p in self.params}
        self.stats: ActivationStats = activation_stats(model)
        self.step_line: UserLine | None = None
        self._arrays = {id(p._array) for _, p in self.params}
        with ExitStack() as stack:
            stack.enter_context(calls_seen("watch", self._look))
            stack.enter_context(self.stats)
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Stop collecting."""
        self._stack.close()

    def _look(self, seen: Seen, run: Callable[[], Any]) -> None:
        """Record the line that first writes a parameter: the optimizer's step."""
        if self.step_line is None and any(map(self._is_param, seen.outputs)):
            self.step_line = users_line()
        run()

    def _is_param(self, x: Any) -> bool:
        many = x if isinstance(x, (list, tuple)) else (x,)
        return any(id(one) in self._arrays for one in many)

    def report(self, step: int, limits: dict[str, float]) -> Step:
        """Return the report of the step."""
        lines = {row.layer: row.line for row in reversed(self.stats.rows)}
        health = moved(self.params, self.before, limits, lines, self.step_line)
        flags = [*self.stats.flags, *health.flags]
        return Step(step, list(self.stats.rows), health, flags)


def watch(
    model: Module,
    *,
    log: str | os.PathLike[str] | None = None,
    every: int = 1,
    vanishing: float = 1e-7,
    exploding: float = 100.0,
    max_norm: float = 1e3,
    update: float = 1.0,
) -> Watch:
    """Return a ``with`` block that examines each training step.

    The block contains the forward pass, `backward` and the optimizer's step.  Call
    `zero_grad` at the beginning of the block, because the gradients must still exist at
    its end.  After the block, `report` has the statistics of `activation_stats` and
    `gradient_health`.  It also has the size of each parameter's update relative to the
    parameter, which reveals a learning rate that is too large.  If a block examines its
    step, compiled functions run eagerly in it.

    Parameters
    ----------
    model
        The module to train.
    log
        A file to which each watched step adds a line of JSON; see `read_log`.
    every
        Examine every n-th step; the other steps cost nothing.
    vanishing, exploding, max_norm
        The limits of `gradient_health`.
    update
        Flag a parameter of two or more dimensions if a step changes it by more than
        this share of its norm.

    Raises
    ------
    DTypeError
        If an argument has the wrong type.
    ArgumentError
        If a number is out of range.
    DataError
        At the end of a block, if the log cannot be written.

    Examples
    --------
    >>> import autocalc as ac
    >>> net = ac.nn.Linear(4, 2)
    >>> sgd = ac.optim.SGD(net.parameters(), lr=1e4)
    >>> watch = ac.diagnostics.watch(net)
    >>> with watch:
    ...     sgd.zero_grad()
    ...     net(ac.ones(8, 4)).square().mean().backward()
    ...     sgd.step()
    >>> [(flag.kind, flag.layer) for flag in watch.flags]
    [('update', 'weight')]
    """
    where = "watch"
    found = check_model(where, model)
    limits = {
        name: check_threshold(where, name, value)
        for name, value in (
            ("vanishing", vanishing), ("exploding", exploding),
            ("max_norm", max_norm), ("update", update),
        )
    }  # fmt: skip
    path = None if log is None else check_path(where, "log", log)
    return Watch(found, path, check_count(where, "every", every), limits)
