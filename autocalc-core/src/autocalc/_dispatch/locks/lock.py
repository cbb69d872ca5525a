# SPDX-License-Identifier: MIT
"""Locks record which kernels ran, in which versions and from which files.

A lock holds the decisions of a process: for each kind of call, the kernel set that ran
it.  Under a lock, these calls run on the same sets or not at all.  If a package is
missing, or has another version or other files, it is refused before anything runs, and
the error lists all differences.  Calls that are not in the lock are decided as before:
by the choices that the lock names, by measured times and by rank.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autocalc._dispatch.locks.lock_files import files_of
from autocalc._dispatch.machine.cpu import cpu_name
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.discovery import registry
from autocalc._dispatch.selection.choice import Ordered
from autocalc._dispatch.selection.select import find_set
from autocalc._dispatch.selection.state import current
from autocalc._kernels.kernel_set import DispatchKey
from autocalc._version import __version__
from autocalc.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

#: The number of the file format; a lock with another number is refused.
FORMAT = 1

#: The key under which the metadata of checkpoints contains a lock.
METADATA_KEY = "autocalc_kernels"

#: The header of a safetensors file is shorter than this.
_MOST_HEADER = 100_000_000

_HOW_TO_MAKE = (
    "`ac.kernels.lock(path)`, `ac.save(..., lock=True)` and `autocalc train ... "
    "--save` write locks."
)


@dataclass(frozen=True)
class LockedSet:
    """A kernel set that ran: its package, and the SHA-256 digests of its files.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     y = ac.ones(2, 2) @ ac.ones(2, 2)
    ...     made = ac.kernels.lock()
    >>> made.sets["reference"].package.split()[0]
    'autocalc-core'
    """

    package: str
    files: dict[str, str]


@dataclass(frozen=True)
class Lock:
    """A record of which kernels ran, made by `kernels.lock`; `print` shows it.

    Attributes
    ----------
    versions
        The versions of ``autocalc-core`` and ``numpy``.
    cpu, threads
        The machine on which the lock was made.  `use_lock` does not compare the
        machines, because only the available kernel sets matter.
    choices, only
        The choice of `use` or ``AUTOCALC_KERNELS``.
    sets
        The kernel sets that ran, by name.
    decisions
        Each kind of call, as text, and the kernel set that ran it.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     y = ac.ones(2, 2) @ ac.ones(2, 2)
    ...     made = ac.kernels.lock()
    >>> list(made.sets), made.versions["autocalc-core"] == ac.__version__
    (['reference'], True)
    """

    versions: dict[str, str]
    cpu: str
    threads: int
    choices: tuple[str, ...]
    only: bool
    sets: dict[str, LockedSet]
    decisions: dict[str, str]

    def __str__(self) -> str:
        version = self.versions["autocalc-core"]
        lines = [
            f"{len(self.decisions)} kinds of calls on {self.cpu}, AutoCalc {version}:"
        ]
        for name, one in self.sets.items():
            count = sum(chosen == name for chosen in self.decisions.values())
            lines.append(f"  {name}: {count}, {one.package}, {len(one.files)} files")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<lock of {len(self.decisions)} decisions>"

    def json(self) -> str:
        """Return the lock as JSON text."""
        calls = [[*json.loads(text), name] for text, name in self.decisions.items()]
        content = {
            "autocalc_lock": FORMAT,
            "versions": self.versions,
            "cpu": self.cpu,
            "threads": self.threads,
            "choices": list(self.choices),
            "only": self.only,
            "sets": {
                name: {"package": one.package, "files": one.files}
                for name, one in self.sets.items()
            },
            "decisions": calls,
        }
        head = json.dumps({**content, "decisions": None}, indent=1)
        body = ",\n".join(f"  {json.dumps(call)}" for call in calls)
        return head.replace('"decisions": null', f'"decisions": [\n{body}\n ]') + "\n"


def text_of(key: DispatchKey) -> str:
    """Return a call's key as a text that is the same in every process."""
    dtypes = [None if dtype is None else dtype.name for dtype in key.dtypes]
    rest = key.attributes, key.accumulate, key.shapes, key.strides
    return json.dumps([key.kernel, dtypes, *map(_plain, rest)])


def _plain(value: Any) -> Any:
    """Return a part of a key in a form that JSON can represent."""
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)  # JSON has no infinity
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


# ---- making --------------------------------------------------------------------------


def lock(path: str | os.PathLike[str] | None = None) -> Lock:
    """Return a record of which kernel set has run each kind of call so far.

    The record contains versions and the digests of files.  In a ``with`` block of
    `use`, it contains the decisions of the block, otherwise those of the process.  The
    latest 16,384 decisions are kept.

    Parameters
    ----------
    path : str or path, optional
        A JSON file to write the lock to.

    Returns
    -------
    Lock
        The record, for `use_lock`.

    Raises
    ------
    ConfigError
        If the file cannot be written.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     y = ac.ones(2, 2) @ ac.ones(2, 2)
    ...     made = ac.kernels.lock()
    >>> set(made.decisions.values())
    {'reference'}
    """
    selection = current().selection
    decided = {text_of(key): name for key, name in selection.decided.items()}
    found = registry()
    made = Lock(
        _versions(),
        cpu_name(),
        get_num_threads(),
        selection.choices,
        selection.only,
        {
            name: LockedSet(found.origins[name], files_of(found.sets[name]))
            for name in sorted(set(decided.values()))
        },
        dict(sorted(decided.items())),
    )
    if path is not None:
        _write(_path("lock", path), made.json())
    return made


def _versions() -> dict[str, str]:
    return {"autocalc-core": __version__, "numpy": np.__version__}


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        message = f"lock: {path} cannot be written: {error.strerror or error}."
        raise ConfigError(message) from error
    finally:
        part.unlink(missing_ok=True)


def _path(where: str, path: Any) -> Path:
    from pathlib import Path

    if not isinstance(path, (str, os.PathLike)):
        kind = type(path).__name__
        message = f"{where}: got a {kind}; give the path of a file. {_HOW_TO_MAKE}"
        raise ConfigError(message)
    return Path(path)


# ---- reading -------------------------------------------------------------------------


def read(path: Path) -> Lock:
    """Return the lock in a JSON file or in a checkpoint.

    Raises
    ------
    ConfigError
        If the file contains no lock.
    """
    try:
        text = _text(path)
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"use_lock: {path} cannot be read: {reason}. {_HOW_TO_MAKE}"
        raise ConfigError(message) from error
    if text is None:
        message = f"use_lock: the checkpoint {path} contains no lock. {_HOW_TO_MAKE}"
        raise ConfigError(message)
    return _parsed(path, text)


def _text(path: Path) -> str | None:
    """Return the JSON of a lock; None if a checkpoint has none."""
    if path.is_fifo():  # reading a pipe may never end
        raise OSError("it is a pipe")
    with path.open("rb") as file:
        head = file.read(9)
        size = struct.unpack("<Q", head[:8])[0] if len(head) == 9 else _MOST_HEADER
        if head[8:] != b"{" or size >= _MOST_HEADER:
            return (head + file.read()).decode("utf-8")
        header = json.loads(head[8:] + file.read(size - 1))
    text = header.get("__metadata__", {}).get(METADATA_KEY)
    return None if text is None else str(text)


def _parsed(path: Path, text: str) -> Lock:
    try:
        content = json.loads(text)
        form = content["autocalc_lock"]
        if form == FORMAT:
            return _lock_of(content)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError,
            ValueError) as error:  # fmt: skip
        message = (
            f"use_lock: {path} does not contain a lock ({error!r}). {_HOW_TO_MAKE}"
        )
        raise ConfigError(message) from error
    raise ConfigError(
        f"use_lock: {path} has format {form}, but this version of AutoCalc reads "
        f"format {FORMAT}. Use the version of AutoCalc that wrote it, or make a new "
        "lock."
    )


def _lock_of(content: dict[str, Any]) -> Lock:
    return Lock(
        {str(name): str(version) for name, version in content["versions"].items()},
        str(content["cpu"]),
        int(content["threads"]),
        tuple(map(str, content["choices"])),
        bool(content["only"]),
        {
            str(name): LockedSet(str(one["package"]), dict(one["files"]))
            for name, one in content["sets"].items()
        },
        {json.dumps(call[:-1]): str(call[-1]) for call in content["decisions"]},
    )


# ---- using ---------------------------------------------------------------------------


def differences(lock: Lock) -> list[str]:
    """Return how this machine differs from a lock; empty if all calls can run."""
    here, then = _versions(), lock.versions
    compared = ["autocalc-core", *["numpy"] * ("reference" in lock.sets)]
    found = [
        f"{name} was {then.get(name)} and is {here[name]}"
        for name in compared
        if then.get(name) != here[name]
    ]
    for name, one in lock.sets.items():
        found += _differences_of(name, one)
    found += filter(None, map(_impossible, lock.choices))
    unknown = set(lock.decisions.values()) - set(lock.sets)
    return found + [f"{name} runs calls and is not described" for name in unknown]


def _impossible(choice: str) -> str:
    """Return why a choice is not possible here; "" if it is possible."""
    try:
        find_set(registry(), choice)
    except ConfigError as error:
        return f"its choice cannot be made: {str(error).rstrip('.')}"
    return ""


def _differences_of(name: str, then: LockedSet) -> Iterable[str]:
    found = registry()
    if name not in found.sets or found.kernels(name) is None:
        reason = found.reason(name) or "no installed package has it"
        return [f"{name} ({then.package}) cannot be used: {reason}"]
    package = found.origins[name]
    if package != then.package:
        return [f"{name} was of {then.package} and is of {package}"]
    here = files_of(found.sets[name])
    changed = sorted(
        file for file in {*here, *then.files} if here.get(file) != then.files.get(file)
    )
    return [f"{name} ({package}) has other files: {', '.join(changed)}"] * bool(changed)


class use_lock(Ordered):
    """Run the calls that a lock contains on the same kernel sets again.

    Like `use`, it applies to a ``with`` block, or to the process from this call on.
    Calls that the lock does not contain are decided by the choices that it names, by
    measured times and by rank.  A later `use` has priority over the lock.

    Parameters
    ----------
    source : Lock, str or path
        A result of `lock`, or the path of a file.  The file is one that `lock` wrote,
        or a checkpoint that contains a lock, such as those of
        ``ac.save(..., lock=True)`` and ``autocalc train``.

    Raises
    ------
    ConfigError
        If there is no lock in the file, if a kernel set is missing, or if a kernel set
        has another version or other files.  The message lists all differences.

    Notes
    -----
    A call raises `KernelError` if the kernel set in the lock refuses it, for example
    because deterministic algorithms are required.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.kernels.use("reference"):
    ...     y = ac.ones(2) * 3
    ...     made = ac.kernels.lock()
    >>> with ac.kernels.use_lock(made), ac.kernels.count() as calls:
    ...     y = ac.ones(2) * 3
    >>> calls["mul", "reference"]
    1
    """

    def __init__(self, source: Lock | str | os.PathLike[str]) -> None:
        what = source
        if not isinstance(source, Lock):
            path = _path("use_lock", source)
            source, what = read(path), path
        found = differences(source)
        if found:
            name = "the lock" if isinstance(what, Lock) else f"{what}"
            raise ConfigError(
                f"use_lock: {name} cannot be used on this machine: {'; '.join(found)}. "
                "Install the versions that it names, or make a new lock."
            )
        self.lock = source
        super().__init__(source.choices, source.only, _Names(source))


class _Names:
    """Returns the kernel set that a lock names for a call."""

    __slots__ = ("_decisions",)

    def __init__(self, lock: Lock) -> None:
        self._decisions = lock.decisions

    def __call__(self, key: DispatchKey) -> str | None:
        return self._decisions.get(text_of(key))
