# SPDX-License-Identifier: MIT
"""A table of test outcomes under PyTorch and under AutoCalc."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).resolve().parent
RANK = {"started": -1, "passed": 0, "skipped": 1, "failed": 2}

#: The parts of a name and of a pattern that are compared.
Lists = dict[str, list[str]]


@dataclass(frozen=True)
class Row:
    """A test that passes under PyTorch, and its outcome under AutoCalc."""

    test: str
    outcome: str
    why: str
    line: str
    excluded: str = ""
    known: str = ""


def read(file: Path) -> Lists:
    """Return the patterns of each reason in one of the lists."""
    lists: Lists = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            patterns = lists.setdefault(text[1:-1], [])
        elif text and not text.startswith("#"):
            patterns.append(text)
    return lists


def reason(lists: Lists, test: str) -> str:
    """Return the first reason with a pattern for a test, or ""."""
    for why, patterns in lists.items():
        if any(fnmatchcase(test, pattern) for pattern in patterns):
            return why
    return ""


def outcomes(file: Path) -> dict[str, dict[str, str]]:
    """Return the outcome of each test of a file: the worst of its parts."""
    found: dict[str, dict[str, str]] = {}
    for text in file.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        old = found.get(line["test"])
        if old is None or RANK[line["outcome"]] >= RANK[old["outcome"]]:
            found[line["test"]] = line
    return found


def rows(out: Path, name: str) -> Iterator[Row]:
    """Yield a row for each test of a file that passes under PyTorch.

    A test that passes under AutoCalc as well does not count as excluded.
    """
    excluded, known = (read(HERE / f"{x}.txt") for x in ("exclusions", "failures"))
    ours = outcomes(out / "autocalc" / f"{name}.jsonl")
    absent = {"outcome": "failed", "why": "the test is not there"}
    for test, line in outcomes(out / "pytorch" / f"{name}.jsonl").items():
        if line["outcome"] == "passed":
            got = ours.get(test, absent)
            ended = got["outcome"] == "started"
            passed = got["outcome"] == "passed"
            yield Row(
                test,
                "failed" if ended else got["outcome"],
                "it ended the process" if ended else got.get("why", ""),
                got.get("line", ""),
                "" if passed else reason(excluded, test),
                reason(known, test),
            )


def write(rows: list[Row], file: Path) -> None:
    """Write all rows as JSON."""
    text = json.dumps([asdict(row) for row in rows], indent=1)
    file.write_text(text + "\n", encoding="utf-8")


def show(rows: list[Row], every: bool) -> int:
    """Print the table; return 1 if a failure has no reason in the list."""
    counted = [row for row in rows if not row.excluded]
    passed = [row for row in counted if row.outcome == "passed"]
    failed = [row for row in counted if row.outcome != "passed"]
    print(f"{len(rows):6} pass under PyTorch")
    print(f"{len(rows) - len(counted):6} are excluded{_share(rows, counted)}:")
    _columns(Counter(row.excluded for row in rows if row.excluded))
    print(f"{len(passed):6} of the other {len(counted)} pass{_part(passed, counted)}")
    print(f"{len(failed):6} fail or are skipped:")
    _columns(Counter(row.known or "no reason is given" for row in failed))
    unknown = [row for row in failed if not row.known]
    print("first lines of the errors without a reason:")
    _columns(Counter(_general(row.why) for row in unknown), limit=None if every else 40)
    for row in unknown if every else ():
        print(f"{row.test}  {row.line}  {row.why}")
    return int(bool(unknown))


def _share(rows: list[Row], counted: list[Row]) -> str:
    return f" ({1 - len(counted) / len(rows):.1%})" if rows else ""


def _part(passed: list[Row], counted: list[Row]) -> str:
    return f" ({len(passed) / len(counted):.1%})" if counted else ""


def _general(why: str) -> str:
    """Return the line of an error without its numbers, to count similar ones."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", why)[:150]


def _columns(counts: Counter[str], limit: int | None = None) -> None:
    for text, count in counts.most_common(limit):
        print(f"{count:12}  {text}")
