# SPDX-License-Identifier: MIT
"""The display of a training: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType
from typing import Any, Protocol

from autocalc.cli._memory import in_megabytes, resident_bytes
from autocalc.cli._progress import BAR_PAUSE, Speed, fitting, progress_bar, say, stream
from autocalc.cli._training import EpochEnd, Training, TrainingStep, count_right

#: The seconds between two lines within an epoch, if there is no bar.
_LINE_PAUSE = 10.0


class Screen(Protocol):
    """Shows the events of a training."""

    def __enter__(self) -> Screen:
        """Start the display."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the display."""

    def show(self, event: TrainingStep | EpochEnd) -> None:
        """Show an event."""


def make_screen(training: Training, quiet: bool, err: bool = False) -> Screen:
    """Return the screen for the kind of output."""
    if quiet:
        return Quiet()
    return (Bar if stream(err).isatty() else Lines)(training, err)


class Quiet:
    """A screen that shows nothing."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def show(self, event: TrainingStep | EpochEnd) -> None:
        """Show nothing."""


class Lines(Quiet):
    """A screen with one line after each epoch, and some within a long epoch."""

    def __init__(self, training: Training, err: bool = False) -> None:
        self._training = training
        self._err = err
        self._next = perf_counter() + _LINE_PAUSE
        self._speed = _speed_of(training)

    def show(self, event: TrainingStep | EpochEnd) -> None:
        """Print a line if enough time has passed."""
        if isinstance(event, EpochEnd):
            say(epoch_line(self._training), self._err)
            self._next = perf_counter() + _LINE_PAUSE
        elif perf_counter() >= self._next:
            self._next += _LINE_PAUSE
            steps = len(self._training.loader)
            say(
                f"  step {event.number:,}/{steps:,}  "
                f"loss {self._training.epoch_loss:.4f}  "
                f"{_shown(self._speed, self._training)}",
                self._err,
            )


def _speed_of(training: Training) -> Speed:
    return Speed(training.history.samples, training.history.seconds)


def _shown(speed: Speed, training: Training) -> str:
    """Return the speed of the last seconds as text."""
    now = speed.now(training.history.samples, training.history.seconds)
    return f"{now:,.0f} samples/s"


def epoch_line(training: Training) -> str:
    """Return the line after an epoch."""
    history = training.history
    return (
        f"epoch {training.epoch}/{training.config.epochs}  "
        f"loss {training.epoch_loss:.4f}  "
        f"test accuracy {history.test_accuracies[-1]:.2%}  "
        f"{history.speed:,.0f} samples/s  "
        f"{in_megabytes(resident_bytes())}"
    )


class Bar:
    """A progress bar for each epoch, with the means of the epoch so far."""

    def __init__(self, training: Training, err: bool = False) -> None:
        self._training = training
        #: Sums over the steps of this epoch that were shown.
        self._right, self._seen = 0, 0
        self._next = 0.0
        self._speed = _speed_of(training)
        self._progress = progress_bar("{task.description}", err=err)
        self._task: Any = None

    def __enter__(self) -> Bar:
        self._progress.start()
        self._task = self._progress.add_task("", news="")
        self._begin_epoch()
        return self

    def __exit__(self, *exc: object) -> None:
        self._progress.stop()

    def _begin_epoch(self) -> None:
        training = self._training
        self._right, self._seen = 0, 0
        self._progress.reset(
            self._task,
            description=self._title,
            total=len(training.loader),
            completed=training.steps_done,
            news="",
        )

    @property
    def _title(self) -> str:
        training = self._training
        return f"epoch {training.epoch + 1}/{training.config.epochs}"

    def show(self, event: TrainingStep | EpochEnd) -> None:
        """Advance the bar, or finish it."""
        if isinstance(event, EpochEnd):
            self._progress.console.print(epoch_line(self._training), highlight=False)
            if event.number < self._training.config.epochs:
                self._begin_epoch()
            return
        self._right += count_right(event.logits, event.labels)
        self._seen += len(event.labels)
        if perf_counter() >= self._next:
            self._next = perf_counter() + BAR_PAUSE
            self._update(event)

    def _update(self, step: TrainingStep) -> None:
        training = self._training
        news = (
            f"loss {training.epoch_loss:.4f}",
            f"accuracy {self._right / self._seen:.1%}",
            _shown(self._speed, training),
            in_megabytes(resident_bytes()),
        )
        fits = fitting(self._progress, self._title, len(training.loader), news)
        self._progress.update(self._task, completed=step.number, news=fits)
        self._progress.refresh()
