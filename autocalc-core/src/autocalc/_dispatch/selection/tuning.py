# SPDX-License-Identifier: MIT
"""Measurements by `autocalc tune` on this machine, and choices based on them.

For calls of sizes that models use, a record holds the seconds that each kernel set
took.  The record orders the sets for calls that are similar to a measured one.  A
similar call has the same kernel, dtypes, layouts and attributes, and no dimension that
is more than twice as large or small.  A record applies only to one CPU, one thread
budget and exactly the kernel packages that were measured.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from autocalc._config import cache_folder, logger, settings
from autocalc._dispatch.machine.cpu import cpu_name
from autocalc._dispatch.machine.thread_budget import chosen_budget, get_num_threads
from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import Shape

if TYPE_CHECKING:
    from pathlib import Path

#: The number of the file format; files with other numbers are ignored.
FORMAT = 1

#: A set that is faster by less than this share does not precede one of better rank,
#: because the next measurement may show the opposite.
CLEAR = 0.03

#: The largest ratio between a dimension and the measured one, either way.
REACH = 2.0

Layouts = tuple["str | None", ...]


@dataclass(frozen=True)
class Measured:
    """One call, and the time that each kernel set took for it.

    Attributes
    ----------
    label
        The call as readable text: ``"256x784 784x1024"``.
    dtypes, shapes
        The values for every operand in the order of the signature, outputs first; None
        for absent operands.
    layouts
        For every input, the dimension along which its elements are adjacent:
        ``"rows"``, ``"columns"`` or ``"other"``.
    attributes
        The call's attributes without floating-point numbers.
    seconds
        The median time of a call for each kernel set, best rank first.
    """

    kernel: str
    label: str
    dtypes: tuple[str | None, ...]
    shapes: tuple[Shape | None, ...]
    layouts: Layouts
    attributes: tuple[Any, ...]
    seconds: dict[str, float]

    @property
    def fastest_first(self) -> list[str]:
        """The sets in the order of their times, but first the best rank if close."""
        names = sorted(self.seconds, key=self.seconds.__getitem__)
        ranked = next(iter(self.seconds))
        if self.seconds[ranked] <= (1 + CLEAR) * self.seconds[names[0]]:
            names.remove(ranked)
            names.insert(0, ranked)
        return names


@dataclass(frozen=True)
class TuningRecord:
    """The measurements of one run of `autocalc tune`."""

    packages: dict[str, str]
    measured: tuple[Measured, ...] = ()

    def nearest(self, key: DispatchKey) -> Measured | None:
        """Return the measured call that is most similar to `key`; None if none is."""
        if not self.measured or key.shapes is None:
            return None
        wanted = description(key)
        near = [
            (distance, i)
            for i, one in enumerate(self.measured)
            if (one.kernel, one.dtypes, one.layouts, one.attributes)
            == (key.kernel, *wanted)
            and (distance := _distance(one.shapes, key.shapes)) is not None
        ]
        return self.measured[min(near)[1]] if near else None


def description(key: DispatchKey) -> tuple[tuple[str | None, ...], Layouts, Any]:
    """Return the dtypes, layouts and attributes, which are equal for similar calls."""
    dtypes = tuple(None if dtype is None else dtype.name for dtype in key.dtypes)
    inputs = zip(key.dtypes, key.shapes or (), key.strides or (), strict=False)
    layouts = tuple(
        None if shape is None or strides is None or dtype is None
        else _layout(shape, strides, dtype.itemsize)
        for dtype, shape, strides in inputs
    )  # fmt: skip
    attributes = tuple(a for a in key.attributes if not isinstance(a, float))
    return dtypes, layouts, attributes


def _layout(shape: Shape, strides: Shape, itemsize: int) -> str:
    """Return along which of the last two dimensions elements are adjacent."""
    steps = [s if n > 1 else itemsize for n, s in zip(shape, strides, strict=True)]
    if not steps or steps[-1] == itemsize:
        return "rows"
    return "columns" if len(steps) > 1 and steps[-2] == itemsize else "other"


def _distance(
    measured: Sequence[Shape | None], wanted: Sequence[Shape | None]
) -> float | None:
    """Return the distance of shapes: the sum of ``|log2|`` of dimensions' ratios."""
    if len(measured) != len(wanted):
        return None
    total = 0.0
    for a, b in zip(measured, wanted, strict=True):
        if (a is None) != (b is None) or (a and b and len(a) != len(b)):
            return None
        for m, n in zip(a or (), b or (), strict=False):
            if m == n:
                continue
            if not m or not n or not 1 / REACH <= m / n <= REACH:
                return None
            total += abs(math.log2(m / n))
    return total


# ---- files ---------------------------------------------------------------------------


def path_of_record() -> Path:
    """Return the file for this CPU and thread budget."""
    name = f"{cpu_name()}-{get_num_threads()}-threads.json"
    return cache_folder() / "tuning" / name


def packages() -> dict[str, str]:
    """Return the usable kernel sets, with the packages they come from."""
    found = registry()
    return {
        name: found.origins[name] for name in sorted(found.sets) if name != "reference"
    }


def nearest(key: DispatchKey) -> Measured | None:
    """Return the measurement of the current record that is most similar to `key`."""
    if key.shapes is None or settings().tune == "off":
        return None
    return _in_force(chosen_budget()).nearest(key)


@functools.lru_cache(maxsize=8)
def _in_force(_budget: int | None) -> TuningRecord:
    """Return the record for a budget; the decision for every new shape needs it."""
    record = _read(path_of_record())
    return record if record.packages == packages() else TuningRecord({})


@functools.lru_cache(maxsize=8)
def _read(path: Path) -> TuningRecord:
    """Return the record in a file; an empty one if it cannot be used."""
    # Imported late, because usually there is no record.
    from autocalc._dispatch.machine.kept_files import (
        WRONG_CONTENT,
        UnusableFileError,
        read_json,
    )

    try:
        content = read_json(path)
    except FileNotFoundError:
        return TuningRecord({})
    except UnusableFileError as error:
        return _unusable(path, str(error))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return _unusable(path, f"it is not of format {FORMAT}")
    try:
        return TuningRecord(
            content["packages"], tuple(map(_measured, content["measured"]))
        )
    except WRONG_CONTENT as error:
        return _unusable(path, f"an entry is wrong ({error!r})")


def _unusable(path: Path, reason: str) -> TuningRecord:
    logger("kernels").warning(
        "the tuning record %s is not used: %s. Run `autocalc tune` to make a new one.",
        path,
        reason,
    )
    return TuningRecord({})


def _measured(entry: dict[str, Any]) -> Measured:
    seconds = {str(name): float(value) for name, value in entry["seconds"].items()}
    if not seconds or not all(0 < value < math.inf for value in seconds.values()):
        raise ValueError(f"seconds are {seconds}")
    return Measured(
        str(entry["kernel"]),
        str(entry["label"]),
        tuple(entry["dtypes"]),
        tuple(map(_shape, entry["shapes"])),
        tuple(entry["layouts"]),
        _tuples(entry["attributes"]),
        seconds,
    )


def _shape(sizes: Any) -> Shape | None:
    if sizes is None:
        return None
    if not all(isinstance(n, int) and 0 <= n < 2**63 for n in sizes):
        raise ValueError(f"a shape is {sizes}")
    return tuple(sizes)


def _tuples(value: Any) -> Any:
    """Return a tree of lists, as JSON gives it, with tuples instead."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def known() -> tuple[Measured, ...]:
    """Return the measurements of the current record."""
    return _in_force(chosen_budget()).measured


def measured(key: DispatchKey, label: str, seconds: dict[str, float]) -> Measured:
    """Return the measurement of a call in the form that a record stores."""
    dtypes, layouts, attributes = description(key)
    shapes = key.shapes or ()
    return Measured(key.kernel, label, dtypes, shapes, layouts, attributes, seconds)


def write(measured: Iterable[Measured]) -> Path:
    """Store measurements with the current packages; return the file."""
    from autocalc._dispatch.machine.kept_files import write_json

    path = path_of_record()
    content = {
        "format": FORMAT,
        "packages": packages(),
        "measured": [asdict(one) for one in measured],
    }
    write_json(path, content)
    forget()
    return path


def forget() -> None:
    """Read the record again at the next use."""
    _in_force.cache_clear()
    _read.cache_clear()


def state() -> str:
    """Return a line about the record for `autocalc kernels`."""
    if settings().tune == "off":
        return "off (AUTOCALC_TUNE)"
    path = path_of_record()
    record = _read(path)
    if not record.measured:
        return "none; `autocalc tune` makes one"
    if record.packages != packages():
        return f"not used, made with other packages; run `autocalc tune`: {path}"
    return f"{len(record.measured)} calls measured: {path}"
