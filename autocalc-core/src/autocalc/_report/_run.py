# SPDX-License-Identifier: MIT
"""A training as its log and the files next to it describe it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autocalc._report._logs import RECORDS, Record
from autocalc._report._numbers import number_of
from autocalc.errors import DataError

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Run:
    """The facts about a training."""

    #: The file of records, None where the folder has other files only.
    log: Path | None
    #: The folder whose other files belong to the training; None of a single file.
    folder: Path | None
    begun: Record = field(default_factory=dict)
    steps: list[Record] = field(default_factory=list)
    evaluations: list[Record] = field(default_factory=list)
    #: Empty while the training runs, and after a crash.
    result: Record = field(default_factory=dict)
    #: Lines that are no records: the last one of a program that was killed.
    damaged: int = 0

    def curve(self, kind: str, key: str) -> Points:
        """Return (step, value) of the records of a kind that have the key."""
        records = self.steps if kind == "step" else self.evaluations
        found = ((one["step"], number_of(one.get(key))) for one in records)
        return [(step, value) for step, value in found if value is not None]


def read_run(place: Path) -> Run:
    """Read a folder, or a file of records.

    Raises
    ------
    DataError
        If there is nothing of a training.
    """
    if place.is_dir():
        log = place / RECORDS
        if log.exists():
            return _read(log, place)
        if any(any(place.glob(name)) for name in BESIDE):
            return Run(None, place)
        raise DataError(
            f"{place} has no {RECORDS}; give the folder or the .jsonl file of "
            f"`autocalc train ... --log`."
        )
    if not place.exists():
        raise DataError(f"{place} does not exist.")
    return _read(place, None)


#: Files that other parts of AutoCalc leave in the folder of a training.
BESIDE = ("profile.json", "profile.html", "roofline.*", "*.jsonl")


def json_lines(path: Path) -> Iterator[Record | None]:
    """Yield the objects of a file, None for a line that is none."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError:
                value = None
            yield value if isinstance(value, dict) else None


def _read(path: Path, folder: Path | None) -> Run:
    run: Any = {"begun": {}, "steps": [], "evaluations": [], "result": {}}
    damaged = 0
    for record in json_lines(path):
        if record is None or not _take(record, run):
            damaged += 1
    if not (run["begun"] or run["steps"] or run["evaluations"]):
        raise DataError(
            f"{path} is not a log of a training; give a file that `autocalc train ... "
            "--log` wrote."
        )
    return Run(path, folder, **run, damaged=damaged)


def _take(record: Record, run: dict[str, Any]) -> bool:
    """Take a record; return whether it is one."""
    kind, step = record.get("kind"), record.get("step", 0)
    if not isinstance(step, int):
        return False
    if kind == "run":
        # A training that goes on from an earlier place writes these steps again.
        for name in ("steps", "evaluations"):
            run[name] = [one for one in run[name] if one["step"] <= step]
        run["begun"], run["result"] = record, {}
    elif kind in {"step", "evaluation"} and "step" in record:
        run[f"{kind}s"].append(record)
    elif kind == "result":
        run["result"] = record
    else:
        return False
    return True
