# SPDX-License-Identifier: MIT
"""The display of a training on text: lines, and a bar on a terminal."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any

from autocalc.cli._memory import in_megabytes, resident_bytes
from autocalc.cli._progress import BAR_PAUSE, Speed, fitting, progress_bar, say, stream
from autocalc.models import Evaluation, TextStep, TextTraining


class TextScreen:
    """Prints a line every `every` steps and after evaluations; updates the bar."""

    def __init__(
        self, training: TextTraining, every: int, quiet: bool, err: bool = False
    ) -> None:
        self._training = training
        self._err = err
        self._every = every
        self._quiet = quiet
        self._next = 0.0
        self._speed = Speed(training.tokens_read, training.history.seconds)
        self._bar: Any = None
        if not quiet and stream(err).isatty():
            self._bar = progress_bar(err=err)
            self._task = self._bar.add_task(
                "", total=training.config.steps, completed=training.step, news=""
            )

    def shown(self) -> AbstractContextManager[Any]:
        """Return the context in which events are shown."""
        return nullcontext() if self._bar is None else self._bar

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        if self._quiet:
            return
        if self._bar is None:
            say(line, self._err)
        else:
            self._bar.console.print(line, highlight=False, markup=False)

    def show(self, event: TextStep | Evaluation) -> None:
        """Show an event."""
        if isinstance(event, Evaluation):
            self.say(evaluation_line(self._training, event))
        elif event.number % self._every == 0:
            self.say(step_line(self._training, event, self._now()))
        if self._bar is not None and perf_counter() >= self._next:
            self._next = perf_counter() + BAR_PAUSE
            training = self._training
            news = (
                f"loss {training.history.recent_loss():.4f}",
                f"{self._now():,.0f} tokens/s",
                in_megabytes(resident_bytes()),
            )
            fits = fitting(self._bar, "", training.config.steps, news)
            self._bar.update(self._task, completed=event.number, news=fits)
            self._bar.refresh()

    def _now(self) -> float:
        """Return the speed of the last seconds."""
        training = self._training
        return self._speed.now(training.tokens_read, training.history.seconds)


def step_line(training: TextTraining, step: TextStep, speed: float) -> str:
    """Return the line after a step; the loss is the mean of the last 20."""
    loss = training.history.recent_loss()
    return (
        f"step {step.number:,}/{training.config.steps:,}  loss {loss:.4f}  "
        f"perplexity {perplexity(loss)}  lr {step.lr:.2e}  "
        f"{speed:,.0f} tokens/s  {in_megabytes(resident_bytes())}"
    )


def evaluation_line(training: TextTraining, evaluation: Evaluation) -> str:
    """Return the line after an evaluation."""
    return (
        f"step {evaluation.number:,}/{training.config.steps:,}  "
        f"validation loss {evaluation.loss:.4f}  "
        f"perplexity {perplexity(evaluation.loss)}"
    )


def perplexity(loss: float) -> str:
    """Return e^loss: the number of tokens between which the model hesitates."""
    return f"{math.exp(loss):.2f}" if loss < 700 else "inf"
