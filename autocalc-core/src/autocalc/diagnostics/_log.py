# SPDX-License-Identifier: MIT
"""A log of training steps: a file with one line of JSON for each step."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from autocalc.diagnostics._arguments import check_path
from autocalc.errors import DataError

#: Texts for the numbers that JSON does not have.
_ODD = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def append(path: Path, record: dict[str, Any]) -> None:
    """Append one line in a single write; a reader never sees part of a line.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    line = json.dumps(_encoded(record), allow_nan=False) + "\n"
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            written = os.write(file, line.encode())
        finally:
            os.close(file)
    except OSError as error:
        message = f"watch: {path} cannot be written: {error.strerror or error}."
        raise DataError(message) from error
    if written != len(line.encode()):
        message = (
            f"watch: {path} cannot be written: only a part of a line was written to "
            "the disk."
        )
        raise DataError(message)


def read_log(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the steps that `watch` logged, the oldest first.

    Parameters
    ----------
    path
        The log file.  A last line that is not complete yet is left out.

    Raises
    ------
    DTypeError
        If `path` is not a path.
    DataError
        If the file cannot be read, or a line is not a log record.

    Examples
    --------
    >>> import tempfile
    >>> import autocalc as ac
    >>> path = tempfile.mkdtemp() + "/steps.jsonl"
    >>> net = ac.nn.Linear(2, 1)
    >>> with ac.diagnostics.watch(net, log=path):
    ...     net(ac.ones(3, 2)).sum().backward()
    >>> [record["step"] for record in ac.diagnostics.read_log(path)]
    [0]
    """
    where = check_path("read_log", "path", path)
    try:
        text = where.read_text(encoding="utf-8")
    except OSError as error:
        message = f"read_log: {path} cannot be read: {error.strerror or error}."
        raise DataError(message) from error
    lines = text.split("\n")[:-1]
    return [_decoded(path, number, line) for number, line in enumerate(lines, 1)]


def _decoded(path: Any, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or "step" not in record:
        raise DataError(
            f"read_log: line {number} of {path} is not a step of a log; give a file "
            "that watch(log=...) wrote."
        )
    found = _with_numbers(record)
    assert isinstance(found, dict)
    return found


def _encoded(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _encoded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _with_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_numbers(one) for one in value]
    return _ODD.get(value, value) if isinstance(value, str) else value
