# SPDX-License-Identifier: MIT
"""The result of `compare_kernels`: a table, failures, and a script of worst calls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from autocalc.errors import ArgumentError


class Compared(NamedTuple):
    """The errors of one call of a kernel of one set.

    Attributes
    ----------
    kernel, set, dtype
        The kernel, the set and the dtype of the call.
    sample
        The label of the sample in the kernel's declaration.
    shapes
        The shapes of the inputs, such as ``"3x5 5"``.
    layouts
        The memory layouts of the operands.
    ulp
        The largest error in ULP; NaN if the kernel gave no result.
    share
        The largest error as a share of the error budget.
    problem
        A sentence that describes the problem; ``""`` if there is none.

    Examples
    --------
    >>> import autocalc as ac
    >>> found = ac.testing.compare_kernels("exp", sets=["reference"], samples=2)
    >>> row = found.rows[0]
    >>> row.kernel, row.set, row.ulp < 1
    ('exp', 'reference', True)
    """

    kernel: str
    set: str
    dtype: str
    sample: str
    shapes: str
    layouts: tuple[str, ...]
    ulp: float
    share: float
    problem: str

    def __str__(self) -> str:
        lie = "/".join(self.layouts)
        return (
            f"{self.kernel} of {self.set} ({self.dtype}) on {self.sample!r}, operands "
            f"{self.shapes}, {lie}: {self.problem or f'{self.ulp:.2f} ULP'}"
        )


def _badness(row: Compared) -> tuple[bool, float, float]:
    ulp = math.inf if math.isnan(row.ulp) else row.ulp
    return bool(row.problem), row.share, ulp


@dataclass(frozen=True)
class Comparison:
    """The measured errors of kernel sets; printing it shows a table.

    Attributes
    ----------
    sets
        The kernel sets that were compared, the best first.
    rows
        One `Compared` for each call.
    refused
        The kernels of installed sets that are not used, and the reasons.

    Examples
    --------
    >>> import autocalc as ac
    >>> found = ac.testing.compare_kernels("exp", sets=["reference"], samples=2)
    >>> len(found.rows) > 0, found.failures
    (True, ())
    """

    sets: tuple[str, ...]
    rows: tuple[Compared, ...]
    refused: tuple[tuple[str, str], ...] = ()

    @property
    def failures(self) -> tuple[Compared, ...]:
        """The calls with a wrong result, or with a write outside of their operands."""
        return tuple(row for row in self.rows if row.problem)

    def worst(self) -> tuple[Compared, ...]:
        """Return the worst call of each kernel, dtype and set.

        Returns
        -------
        tuple of Compared
            The worst calls, in the order of the table.

        Examples
        --------
        >>> import autocalc as ac
        >>> found = ac.testing.compare_kernels("exp", sets=["reference"], samples=2)
        >>> [row.dtype for row in found.worst()]
        ['float32', 'float64']
        """
        best: dict[tuple[str, str, str], Compared] = {}
        for row in self.rows:
            key = row.kernel, row.dtype, row.set
            if key not in best or _badness(row) > _badness(best[key]):
                best[key] = row
        return tuple(best.values())

    def table(self, by: Literal["shapes", "kernel"] = "shapes") -> str:
        """Return a table of the largest errors in ULP, with one column for each set.

        Parameters
        ----------
        by
            ``"shapes"`` for one row for each kernel, dtype and shape, or ``"kernel"``
            for one row for each kernel and dtype.

        Returns
        -------
        str
            The table.  ``!`` marks an error above the budget, and ``-`` a call that the
            set does not support.

        Raises
        ------
        ArgumentError
            If `by` is neither ``"shapes"`` nor ``"kernel"``.

        Examples
        --------
        >>> import autocalc as ac
        >>> found = ac.testing.compare_kernels("sign", sets=["reference"], samples=2)
        >>> print(found.table("kernel").splitlines()[0])
        kernel  dtype    operands  reference
        """
        if by not in ("shapes", "kernel"):
            raise ArgumentError(f"table: `by` is {by!r}; use 'shapes' or 'kernel'.")
        cells: dict[tuple[str, str, str], dict[str, Compared]] = {}
        for row in self.rows:
            key = row.kernel, row.dtype, row.shapes if by == "shapes" else "all"
            line = cells.setdefault(key, {})
            if row.set not in line or _badness(row) > _badness(line[row.set]):
                line[row.set] = row
        lines = [("kernel", "dtype", "operands", *self.sets)]
        for key, line in cells.items():
            lines.append((*key, *(_cell(line.get(name)) for name in self.sets)))
        return _aligned(lines)

    def __str__(self) -> str:
        parts = [
            "largest error in ULP (! misses the budget, - is not taken)",
            self.table(),
            f"{len(self.failures)} of {len(self.rows)} calls miss their budget",
            *(f"  {row}" for row in self.worst() if row.problem),
            *(f"  not used: {subject}: {reason}" for subject, reason in self.refused),
        ]
        return "\n".join(parts)

    __repr__ = __str__

    def save(self, path: str | Path) -> None:
        """Write a Python script that runs the worst calls again and prints them.

        The worst calls are the worst failure of each kernel, dtype and set.  If no call
        fails, they are the worst call of each kernel, dtype and set.  Samples are the
        same in each run, so the script needs no data.  Its exit code is 1 if a call
        still fails.

        Parameters
        ----------
        path
            The file to write.

        Examples
        --------
        >>> import autocalc as ac, tempfile, pathlib
        >>> found = ac.testing.compare_kernels("exp", sets=["reference"], samples=2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found.save(pathlib.Path(folder) / "worst.py")
        """
        worst = self.worst()
        chosen = [row for row in worst if row.problem] or list(worst)
        cases = "".join(
            f"    # {_comment(row)}\n"
            f"    ({row.kernel!r}, {row.set!r}, {row.dtype!r}, {row.sample!r}, "
            f"{row.layouts!r}),\n"
            for row in chosen
        )
        Path(path).write_text(_SCRIPT.format(cases=cases), encoding="utf-8")


_SCRIPT = '''\
"""The worst calls that autocalc.testing.compare_kernels found, made once more."""

import sys

import autocalc as ac

CASES = [
{cases}]

failures = 0
for kernel, name, dtype, sample, layouts in CASES:
    found = ac.testing.compare_kernels(
        kernel, sets=[name], dtypes=[dtype], samples=[sample], layouts=[layouts]
    )
    failures += len(found.failures)
    for row in found.rows:
        print(row)
sys.exit(1 if failures else 0)
'''


def _comment(row: Compared) -> str:
    return " ".join((row.problem or f"{row.ulp:.2f} ULP").split())


def _cell(row: Compared | None) -> str:
    if row is None:
        return "-"
    number = f"{row.ulp:.2f}" if row.ulp < 1e5 else f"{row.ulp:.1e}"
    return f"!{number}" if row.problem else number


def _aligned(lines: list[tuple[str, ...]]) -> str:
    """Return the cells in aligned columns, with numbers aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        cells = [
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        texts.append("  ".join(cells).rstrip())
    return "\n".join(texts)
