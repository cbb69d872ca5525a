# SPDX-License-Identifier: MIT
"""Follow a training from its first event to its result: show, log, save, stop."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import click

from autocalc._report._logs import Log, Record
from autocalc._report._machine import machine
from autocalc._report._numbers import to_json
from autocalc.cli._common import interruptible
from autocalc.cli._progress import say
from autocalc.cli._room import check_room
from autocalc.cli._run_options import RunOptions, open_log
from autocalc.cli._words import command_line, going_on

#: How a training ended.
COMPLETE, NO_BETTER, INTERRUPTED = "complete", "no better", "interrupted"

#: Maps an optimizer to the number of arrays that it keeps per parameter; for SGD this
#: depends on momentum.
_STATES = {"adam": 2, "adamw": 2, "lion": 1}

#: A shell reports this number plus the number of the signal that ended a program.
_SIGNALLED = 128


class Followed(Protocol):
    """A training on images or text, as this file uses it."""

    training: Any

    def describe(self) -> Record:
        """Return the facts known at the start: model, data, parameters, steps."""

    def record(self, event: Any) -> Record:
        """Return the log record of an event."""

    def scores(self) -> Sequence[tuple[float, ...]]:
        """Return the scores of all evaluations so far; a lower score is better."""

    def is_evaluation(self, event: Any) -> bool:
        """Return whether the event is an evaluation."""

    def after_step(self, event: Any) -> None:
        """Do the work that was requested between two steps."""

    def complete(self) -> bool:
        """Return whether the training is complete."""

    def save(self, path: Path) -> None:
        """Write the training to a file."""

    def new_file(self) -> Path:
        """Return the name of a new file, for a training without --save."""

    def interruption(self, place: Path) -> str:
        """Return how far the training came until Ctrl-C, and where it is saved."""

    def result(self) -> Record:
        """Return how good the model is."""

    def result_line(self, seconds: float) -> str:
        """Return the result as one line."""

    def plot(self, path: Path, err: bool) -> None:
        """Draw the curves."""


class Screen(Protocol):
    """Shows the events of a training."""

    def show(self, event: Any) -> None:
        """Show an event."""


def follow(
    ctx: click.Context,
    run: Followed,
    screen: Screen,
    shown: AbstractContextManager[Any],
    options: RunOptions,
) -> None:
    """Train until the end, Ctrl-C, or no more improvement; then report."""
    _check_room(run, options)
    log = open_log(options)
    try:
        if log is not None:
            log.write(_beginning(ctx, run))
        started = perf_counter()
        with shown, interruptible() as signals:
            ended = _train(run, screen, options, log, started, signals)
        result = _finish(ctx, run, options, ended, perf_counter() - started)
        if log is not None:
            log.write({"kind": "result", **result})
    finally:
        if log is not None:
            log.close()
    if options.as_json:
        click.echo(json.dumps(to_json(result)))
    elif ended != INTERRUPTED:
        click.echo(run.result_line(result["seconds"]))
    if ended == INTERRUPTED:
        ctx.exit(_SIGNALLED + signals[0])


def _check_room(run: Followed, options: RunOptions) -> None:
    """Check now whether the file of the model will fit on its disk."""
    model, config = run.training.model, run.training.config
    nbytes = sum(p.numel() * p.element_size() for p in model.parameters())
    states = _STATES.get(config.optimizer, 0)
    if config.optimizer == "sgd":
        states = int(getattr(config, "momentum", 0) != 0)
    check_room("--save", options.save_to, (1 + states) * nbytes)
    check_room("--save-best", options.best, (1 + states) * nbytes)


def _beginning(ctx: click.Context, run: Followed) -> Record:
    return {
        "kind": "run",
        **run.describe(),
        "command": command_line(ctx),
        "begun": datetime.now().astimezone().isoformat(" ", "seconds"),
        "config": asdict(run.training.config),
        "machine": machine(),
    }


def _train(
    run: Followed,
    screen: Screen,
    options: RunOptions,
    log: Log | None,
    started: float,
    signals: list[int],
) -> str:
    """Train until a signal arrives; return how the training ended."""
    for event in run.training.run():
        screen.show(event)
        if log is not None:
            log.write({**run.record(event), "seconds": perf_counter() - started})
        if not run.is_evaluation(event):
            run.after_step(event)
        elif _evaluated(run, options):
            return COMPLETE if run.complete() else NO_BETTER
        if signals:
            break
    return COMPLETE if run.complete() else INTERRUPTED


def _evaluated(run: Followed, options: RunOptions) -> bool:
    """Save; return whether to stop because nothing improves."""
    if options.save_to is not None:
        run.save(options.save_to)
    without_better = since_best(run.scores())
    if options.best is not None and without_better == 0:
        run.save(options.best)
    return options.patience is not None and without_better >= options.patience


def since_best(scores: Sequence[tuple[float, ...]]) -> int:
    """Return the number of evaluations after the best one, which has the least score.

    A score that is NaN counts as worse than all others.
    """
    ordered = [
        tuple(math.inf if math.isnan(one) else one for one in score) for score in scores
    ]
    return len(ordered) - 1 - ordered.index(min(ordered))


def _finish(
    ctx: click.Context, run: Followed, options: RunOptions, ended: str, seconds: float
) -> dict[str, Any]:
    """Draw, save and report the end; return the result."""
    err = options.as_json
    saved = options.save_to
    if ended == INTERRUPTED:
        saved = saved or run.new_file()
        run.save(saved)
    if options.picture is not None:
        run.plot(options.picture, err)
    if ended == INTERRUPTED:
        click.echo(run.interruption(saved or Path()), err=True)
        click.echo(f"Go on with:\n  {going_on(ctx, saved)}", err=True)
    if ended == NO_BETTER and not options.quiet:
        count = options.patience
        say(f"Stopped: no better model in {count} evaluations in a row.", err)
    return {
        **run.describe(),
        **run.result(),
        "seconds": seconds,
        "stopped": ended,
        "saved": None if saved is None else str(saved),
        "saved_best": None if options.best is None else str(options.best),
        "config": asdict(run.training.config),
    }


def kernel_rows(calls: Counter[tuple[str, str]]) -> list[Record]:
    """Return which kernel ran on which set, and how often in a step."""
    return [
        {"kernel": kernel, "set": name, "calls": count}
        for (kernel, name), count in calls.most_common()
    ]


def best_of(scores: Sequence[tuple[float, ...]]) -> int:
    """Return the index of the best evaluation."""
    return len(scores) - 1 - since_best(scores)


def mean(values: Sequence[float]) -> float:
    """Return the mean of numbers, or NaN if there are none."""
    return sum(values) / len(values) if values else math.nan
