# SPDX-License-Identifier: MIT
"""Run every benchmark of asv once, in this process: ``python -m benchmarks.smoke``.

asv shows what was skipped as n/a and goes on.  Here it is an error where no row of a
class ran on a set that the class names, and where another set ran than the row says.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import autocalc as ac
import benchmarks
from autocalc._dispatch.plugins.discovery import registry
from benchmarks import common

#: How the names of what asv measures begin.
KINDS = ("time_", "timeraw_", "track_", "mem_", "peakmem_")

Combination = tuple[Any, ...]


def classes() -> dict[str, type]:
    """Return the classes of benchmarks by module and name."""
    modules = [
        importlib.import_module(f"benchmarks.{one.name}")
        for one in pkgutil.iter_modules(benchmarks.__path__)
        if one.name.startswith("bench_")
    ]
    return {
        f"{module.__name__.removeprefix('benchmarks.')}.{name}": kind
        for module in modules
        for name, kind in vars(module).items()
        if inspect.isclass(kind)
        and kind.__module__ == module.__name__
        and not inspect.isabstract(kind)
        and methods(kind)
    }


def methods(kind: type) -> list[str]:
    """Return the names of what asv measures of a class."""
    return [name for name in dir(kind) if name.startswith(KINDS)]


def label(kind: Any, combination: Combination) -> str | None:
    """Return the kernel set that a row names, if it names one."""
    names = getattr(kind, "param_names", [])
    if "kernels" in names:
        return str(combination[names.index("kernels")])
    if "kernel and set" in names:
        return str(combination[0]).partition(" by ")[2]
    return None


def by_label(kind: Any) -> dict[str | None, list[Combination]]:
    """Return the rows of each set that a class names."""
    found: dict[str | None, list[Combination]] = {}
    for combination in itertools.product(*getattr(kind, "params", [])):
        found.setdefault(label(kind, combination), []).append(combination)
    return found


def problems(kind: Any) -> Iterator[str]:
    """Run the first row of each set that does not skip it; say what is wrong."""
    rows = by_label(kind)
    if not rows:
        yield f"{kind.__name__} has no rows"
    for name, combinations in rows.items():
        for combination in combinations:
            found = _ran(kind, combination, _measured(kind, name, list(rows)))
            if found is not None:
                break
        else:
            yield f"{kind.__name__}: nothing ran on {name or 'any set'}"
            continue
        for method, sets in found.items():
            wrong = _wrong(name, sets)
            if wrong:
                yield f"{kind.__name__}.{method}{combination}: {wrong}"


def _measured(kind: Any, name: str | None, names: list[str | None]) -> list[str]:
    """Return what is measured of a set.

    The reference is slow: where there are others, it is set up, which runs a row; where
    it is alone, one figure is taken.
    """
    found = methods(kind)
    if name != "reference":
        return found
    return [] if len(names) > 1 else found[:1]


def _wrong(name: str | None, sets: set[str]) -> str:
    """Return what is wrong where these sets ran under a name, or nothing."""
    if name is None:
        return ""
    others = sorted(sets - {name, "reference"})
    if name not in sets:
        return f"{name} did not run, but {', '.join(sorted(sets)) or 'nothing'}"
    return f"{', '.join(others)} ran as well" if others else ""


def _ran(
    kind: Any, combination: Combination, measured: list[str]
) -> dict[str, set[str]] | None:
    """Run a row; return the sets that ran by method, None where it is skipped."""
    one = kind()
    try:
        if hasattr(one, "setup"):
            try:
                one.setup(*combination)
            except NotImplementedError:
                return None
        return {name: _sets_of(one, name, combination) for name in measured}
    finally:
        if hasattr(one, "teardown"):
            one.teardown(*combination)


def _sets_of(one: Any, method: str, combination: Combination) -> set[str]:
    """Measure once; return the sets that ran."""
    with ac.kernels.count() as calls:
        _run(getattr(one, method), method, combination)
    told = one.ran() if hasattr(one, "ran") else None
    sets = {name for _, name in calls} if told is None else told
    return {name for name in sets if name in registry().sets}


def _run(function: Any, method: str, combination: Combination) -> None:
    found = function(*combination)
    if method.startswith("timeraw_"):
        subprocess.run([sys.executable, "-c", found], check=True)
    if method.startswith("track_") and not isinstance(found, (int, float)):
        raise TypeError(f"{method} returned {found!r}, no number")


def hurry() -> None:
    """Let figures be taken once: what they are does not count here."""
    common.ROUNDS, common.ROUND_SECONDS = 1, 0.0


def main(parts: list[str]) -> None:
    """Run the classes whose names have one of these parts; exit 1 where one fails."""
    hurry()
    found = [
        f"{name}: {problem}"
        for name, kind in classes().items()
        if any(part in name for part in parts or [""])
        for problem in problems(kind)
    ]
    for problem in found:
        print(problem)
    sys.exit(bool(found))


if __name__ == "__main__":
    main(sys.argv[1:])
