# SPDX-License-Identifier: MIT
"""Read a training run from its log and the other files in its folder."""

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
    """The facts about a training run."""

    #: The file of records; None if the folder has only other files.
    log: Path | None
    #: The folder whose other files belong to the run; None if only a file was given.
    folder: Path | None
    begun: Record = field(default_factory=dict)
    steps: list[Record] = field(default_factory=list)
    evaluations: list[Record] = field(default_factory=list)
    #: Empty during the training run, and after a crash.
    result: Record = field(default_factory=dict)
    #: The number of lines that are not records, such as the incomplete last line of a
    #: killed program.
    damaged: int = 0

    def curve(self, kind: str, key: str) -> Points:
        """Return (step, value) of each record that has the given kind and the key."""
        records = self.steps if kind == "step" else self.evaluations
        found = ((one["step"], number_of(one.get(key))) for one in records)
        return [(step, value) for step, value in found if value is not None]


def read_run(place: Path) -> Run:
    """Read a folder, or a file of records.

    Raises
    ------
    DataError
        If there are no data of a training run.
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


#: Files that other parts of AutoCalc write to the folder of a training run.
BESIDE = ("profile.json", "profile.html", "roofline.*", "*.jsonl")


def json_lines(path: Path) -> Iterator[Record | None]:
    """Yield the object in each line of a file; None if a line is not an object."""
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
            f"{path} is not a log of a training run; give a file that `autocalc "
            "train ... --log` wrote."
        )
    return Run(path, folder, **run, damaged=damaged)


def _take(record: Record, run: dict[str, Any]) -> bool:
    """Add a record to the run; return whether it is a valid record."""
    kind, step = record.get("kind"), record.get("step", 0)
    if not isinstance(step, int):
        return False
    if kind == "run":
        # A run that resumes from an earlier step writes these steps again.
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
