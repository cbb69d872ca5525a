# SPDX-License-Identifier: MIT
"""Limits of this process by Linux control groups: cores and memory.

A group is bound by its own limits and by those of every group around it.  Both versions
are read.  In version 2, one tree holds all limits.  In version 1, each controller has a
tree.  In a container, the tree often begins at the process's own group.  The path of
this group in ``/proc/self/cgroup`` then leads nowhere.  In that case the existing
folders count, including the root.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "/sys/fs/cgroup"
GROUPS = "/proc/self/cgroup"

#: Version 1 reports a number near 2^63 if memory has no limit.
_NO_LIMIT = 1 << 60


def cpu_quota(root: Path | str = ROOT, groups: Path | str = GROUPS) -> float:
    """Return the CPU quota in cores; infinite if there is none."""
    quotas = [_quota(text) for text in _texts(root, groups, "", "cpu.max")]
    quotas += [
        _old_quota(text, _read(folder / "cpu.cfs_period_us"))
        for folder in _folders(root, groups, "cpu")
        for text in [_read(folder / "cpu.cfs_quota_us")]
    ]
    return min(quotas, default=math.inf)


def memory_limit(root: Path | str = ROOT, groups: Path | str = GROUPS) -> int | None:
    """Return the most bytes that the process may use; None if there is no limit."""
    limits = [_bytes(text) for text in _texts(root, groups, "", "memory.max")]
    old = "memory.limit_in_bytes"
    limits += [_bytes(text) for text in _texts(root, groups, "memory", old)]
    known = [limit for limit in limits if limit is not None]
    return min(known, default=None)


def memory_left(root: Path | str = ROOT, groups: Path | str = GROUPS) -> int | None:
    """Return how many more bytes the groups' limits leave; None without limits.

    File caches that the system gives back on demand do not count as used.
    """
    found = [
        _left(folder, "memory.max", "memory.current", "inactive_file")
        for folder in _folders(root, groups, "")
    ]
    old = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
    found += [_left(folder, *old) for folder in _folders(root, groups, "memory")]
    return min((left for left in found if left is not None), default=None)


def _left(folder: Path, limit: str, used: str, cached: str) -> int | None:
    most, held = _bytes(_read(folder / limit)), _bytes(_read(folder / used))
    if most is None or held is None:
        return None
    for line in _read(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == cached:
            held -= _bytes(value) or 0
    return max(0, most - held)


def _quota(text: str) -> float:
    """Return the cores in a text such as ``150000 100000`` or ``max 100000``."""
    try:
        quota, period = text.split()
        return math.inf if quota == "max" else max(1.0, int(quota) / int(period))
    except (ValueError, ZeroDivisionError):
        return math.inf


def _old_quota(quota: str, period: str) -> float:
    try:
        part, whole = int(quota), int(period)
    except ValueError:
        return math.inf
    return math.inf if part <= 0 or whole <= 0 else max(1.0, part / whole)


def _bytes(text: str) -> int | None:
    try:
        limit = int(text)
    except ValueError:  # "max", or the file does not exist
        return None
    return limit if 0 < limit < _NO_LIMIT else None


def _texts(
    root: Path | str, groups: Path | str, controller: str, name: str
) -> Iterator[str]:
    """Yield the content of a file of each group to which the process belongs."""
    for folder in _folders(root, groups, controller):
        yield _read(folder / name)


def _folders(root: Path | str, groups: Path | str, controller: str) -> Iterator[Path]:
    """Yield the folders of the process's group and those around it, the root first.

    `controller` selects a tree of version 1; it is empty for version 2.
    """
    from pathlib import Path  # late, as in _config

    top = Path(root) / controller
    yield top
    folder = top
    parts = _group(Path(groups), controller).split("/")
    if ".." in parts:  # outside of what this process can see
        return
    for part in filter(None, parts):
        folder /= part
        yield folder


def _group(groups: Path, controller: str) -> str:
    """Return the path of the process's group in a controller's tree."""
    for line in _read(groups).splitlines():
        _, names, path = (*line.split(":", 2), "", "")[:3]
        if controller in names.split(","):
            return path
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""
