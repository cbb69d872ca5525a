# SPDX-License-Identifier: MIT
"""Logs of a training run: JSON lines, a CSV table, or TensorBoard events.

A training run writes records, which are dicts with a `kind`:

- `run`, once at the beginning: settings, command, machine, and the number of steps done
  before
- `step`, after each step: `step`, `epoch`, `loss`, `lr`, `seconds`
- `evaluation`, after each evaluation: `step`, `epoch`, losses, accuracy, speed, memory
- `result`, once at the end: the output of ``--json``
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import IO, Any, Protocol

from autocalc._report._numbers import number_of, to_json
from autocalc.errors import ArgumentError
from autocalc.utils.tensorboard import SummaryWriter

Record = dict[str, Any]

#: The name of the file of records in a folder.
RECORDS = "log.jsonl"
_EVENTS = "events.out.tfevents.*"

#: The most seconds until a record is written to disk, as long as more records follow.
_FLUSH = 1.0

#: The columns of a CSV file; a cell is empty if the record lacks its key.
COLUMNS = (
    *("kind", "step", "epoch", "seconds", "lr", "loss", "test_loss", "test_accuracy"),
    *("validation_loss", "samples_per_second", "tokens_per_second", "resident_bytes"),
)


class Log(Protocol):
    """The protocol of objects that write the records of a training run."""

    def write(self, record: Record) -> None:
        """Write a record."""

    def close(self) -> None:
        """Write the pending records and close the files."""


def make_log(place: Path, *, append: bool) -> Log:
    """Return a log that writes to a file (.jsonl, .csv) or a folder, by its name.

    Parameters
    ----------
    place
        The path of the log.  A folder gets both JSON records and TensorBoard events.
    append
        True to keep existing records, for a training run that continues.

    Raises
    ------
    ArgumentError
        If the name does not show the kind of log.
    """
    kind = kind_of(place)
    if kind == "jsonl":
        return JsonLines(place, append)
    if kind == "csv":
        return Table(place, append)
    place.mkdir(parents=True, exist_ok=True)
    if not append:
        for old in place.glob(_EVENTS):
            old.unlink()
    return Several([JsonLines(place / RECORDS, append), Events(place, append)])


def kind_of(place: Path) -> str:
    """Return ``jsonl``, ``csv`` or ``folder``."""
    if place.is_dir():
        return "folder"
    suffix = place.suffix.lower()
    if suffix in {".jsonl", ".csv"}:
        return suffix[1:]
    if suffix:
        raise ArgumentError(
            f"{place} ends with {suffix!r}; a log is a file that ends with .jsonl or "
            ".csv, or a folder whose name has no ending."
        )
    return "folder"


def find_log(place: Path) -> Path | None:
    """Return the file of an earlier log at this place, or None."""
    file = place / RECORDS if kind_of(place) == "folder" else place
    if file.exists():
        return file
    return next(iter(sorted(place.glob(_EVENTS))), None) if place.is_dir() else None


class JsonLines:
    """A file with one JSON object per line; it can be read during the training run."""

    def __init__(self, path: Path, append: bool) -> None:
        self._file = path.open("a" if append else "w", encoding="utf-8")
        self._flushed = monotonic()

    def write(self, record: Record) -> None:
        """Write a record."""
        self._file.write(json.dumps(to_json(record)) + "\n")
        self._flushed = _flush(self._file, self._flushed, record)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Table:
    """A CSV file with a row for each step and each evaluation."""

    def __init__(self, path: Path, append: bool) -> None:
        begun = append and path.exists() and path.stat().st_size > 0
        self._file = path.open("a" if append else "w", encoding="utf-8", newline="")
        self._rows = csv.DictWriter(self._file, COLUMNS, extrasaction="ignore")
        self._flushed = monotonic()
        if not begun:
            self._rows.writeheader()

    def write(self, record: Record) -> None:
        """Write a record as a row; settings and results are left out."""
        if record["kind"] in {"step", "evaluation"}:
            self._rows.writerow(record)
            self._flushed = _flush(self._file, self._flushed, record)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _flush(file: IO[str], before: float, record: Record) -> float:
    """Flush the file if it is time; return the time of the last flush."""
    if record["kind"] == "step" and monotonic() - before < _FLUSH:
        return before
    file.flush()
    return monotonic()


#: The curves of TensorBoard: (kind of record, key) -> the name of the curve.
_CURVES = {
    ("step", "loss"): "loss/train",
    ("step", "lr"): "learning rate",
    ("evaluation", "test_loss"): "loss/test",
    ("evaluation", "validation_loss"): "loss/validation",
    ("evaluation", "test_accuracy"): "accuracy/test",
    ("evaluation", "samples_per_second"): "speed/samples per second",
    ("evaluation", "tokens_per_second"): "speed/tokens per second",
    ("evaluation", "resident_bytes"): "memory/resident bytes",
}


class Events:
    """TensorBoard's event files."""

    def __init__(self, folder: Path, append: bool) -> None:
        self._make: Callable[[int | None], SummaryWriter] = lambda step: SummaryWriter(
            folder, purge_step=step if append else None, max_queue=1000, flush_secs=5
        )
        self._writer: SummaryWriter | None = None

    def write(self, record: Record) -> None:
        """Write a record."""
        if self._writer is None:  # the first record has the first step
            self._writer = self._make(record.get("step", 0) + 1)
        if record["kind"] == "run":
            lines = [f"{key}: {value}" for key, value in record["config"].items()]
            self._writer.add_text("settings", "  \n".join(lines), record["step"])
        for key, value in record.items():
            name = _CURVES.get((record["kind"], key))
            if name is not None and number_of(value) is not None:
                self._writer.add_scalar(name, value, record["step"])
        if record["kind"] != "step":
            self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


class Several:
    """Several logs at once."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self._logs = logs

    def write(self, record: Record) -> None:
        """Write a record."""
        for log in self._logs:
            log.write(record)

    def close(self) -> None:
        """Close all logs."""
        for log in self._logs:
            log.close()
