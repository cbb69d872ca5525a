# SPDX-License-Identifier: MIT
"""Results of self-tests of kernel sets on this machine, in one small file for each.

A record is valid for one set of one package on one CPU, as long as the package's files
are unchanged.  Sizes and times of the files are compared first.  Only if these differ,
hashes of their contents are compared.
"""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from autocalc._config import cache_folder, logger
from autocalc._dispatch.machine.cpu import cpu_features, cpu_name
from autocalc._dispatch.machine.kept_files import WRONG_CONTENT, read_json, write_json

#: The number of the file format; files with other numbers are ignored.
FORMAT = 1

#: Matches the names of files that may contain a set's code.
_CODE = re.compile(r"\.(py|pyd|dll|dylib)$|\.so(\.[\d.]+)?$")


class File(NamedTuple):
    """A file as it was when the set was tested."""

    path: str
    size: int
    #: The time of the last change, in nanoseconds.
    time: int
    #: The hash of the contents.
    hash: str


@dataclass(frozen=True)
class TrialRecord:
    """The result of a set's self-test.

    Attributes
    ----------
    set, package
        The set, or the plugin whose import was tested; and the package with its
        version.
    verdict
        One of ``"passed"``; ``"quarantined"``; ``"unloadable"``: its `load` raised an
        error; ``"untested"``: no test was possible, for a reason outside of the set;
        ``"trusted"``: the user wants no test.
    reason, traceback
        The reason why it did not pass.
    wrong
        The kernels that are left out, with reasons.
    calls, kernels, seconds
        The number of calls and kernels that ran, and the time they took.
    date
        The date of the test.
    files
        The files with the package's code.
    """

    set: str
    package: str
    verdict: str
    reason: str = ""
    traceback: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    kernels: int = 0
    seconds: float = 0.0
    date: str = ""
    files: tuple[File, ...] = ()

    @property
    def text(self) -> str:
        """A line with the result, for ``autocalc kernels``."""
        if self.verdict == "trusted":
            return "none (AUTOCALC_GUARD)"
        if self.verdict != "passed":
            return f"{self.verdict}: {self.reason}"
        left_out = f", {len(self.wrong)} of them left out" if self.wrong else ""
        return (
            f"passed: {self.calls} calls of {self.kernels} kernels{left_out}, "
            f"{self.seconds:.1f} s, {self.date}"
        )


# ---- files of code -------------------------------------------------------------------


def code_files(module: str) -> list[Path]:
    """Return the code files of the package to which a module belongs.

    The module need not be imported: only its files are located.
    """
    name = getattr(sys.modules.get(module), "__file__", None) or _origin(module)
    if not name:
        return []
    file = Path(name)
    while not file.exists() and file != file.parent:
        file = file.parent  # the file is inside an archive
    folder = file.parent
    if not (folder / "__init__.py").exists():
        return [file] if file.is_file() else []
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return sorted(p for p in folder.rglob("*") if _CODE.search(p.name) and p.is_file())


def _origin(module: str) -> str | None:
    """Return a file of the package to which a module belongs, without importing it."""
    top, _, rest = module.partition(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is not None:
        return None if spec is None else spec.origin
    tails = ("/__init__.py", ".py")  # for a package in a folder that others share
    places = spec.submodule_search_locations or ()
    found = [Path(place, rest.replace(".", "/") + tail)
             for place in places for tail in tails]  # fmt: skip
    return next((str(path) for path in found if path.is_file()), None)


def described(paths: Iterable[Path | str]) -> tuple[File, ...]:
    """Return the current state of files, without those that cannot be read."""
    found = [_described(path) for path in dict.fromkeys(map(str, paths))]
    return tuple(file for file in found if file is not None)


def _described(path: str) -> File | None:
    try:
        state = Path(path).stat()
        return File(path, state.st_size, state.st_mtime_ns, _hash(path))
    except OSError:
        return None


def _hash(path: str) -> str:
    digest = blake2b(digest_size=16)
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _now(file: File) -> File | None:
    """Return the current state of a file if its contents are unchanged, else None."""
    try:
        state = Path(file.path).stat()
        if not stat.S_ISREG(state.st_mode):
            return None
        if (state.st_size, state.st_mtime_ns) == (file.size, file.time):
            return file
        if state.st_size != file.size or _hash(file.path) != file.hash:
            return None
    except OSError:
        return None
    return file._replace(time=state.st_mtime_ns)


# ---- records -------------------------------------------------------------------------

#: The records of this process, by path; the only ones if the cache cannot be written.
_kept: dict[Path, TrialRecord] = {}


def folder() -> Path:
    """Return the folder of the records, which need not exist yet."""
    return cache_folder() / "self-tests"


def path_of(name: str, package: str, files: list[Path]) -> Path:
    """Return the file for a set of a package that is installed here, on this CPU."""
    cpu = (cpu_name(), *sorted(cpu_features()))
    place = (name, package, str(files[0]), *cpu)
    digest = blake2b("\0".join(place).encode(), digest_size=8).hexdigest()
    readable = re.sub(r"[^-.\w]", "_", name)
    return folder() / f"{readable}-{digest}.json"


def find(path: Path) -> TrialRecord | None:
    """Return the record in a file, if the package's code is unchanged."""
    record = _kept.get(path) or _read(path)
    if record is None:
        return None
    now = [_now(file) for file in record.files]
    files = tuple(file for file in now if file is not None)
    if len(files) < len(now):
        return None
    if files != record.files:  # the same contents were installed again
        keep(path, replace(record, files=files))
    return record


def _read(path: Path) -> TrialRecord | None:
    try:
        content = read_json(path)
        if content.pop("format") != FORMAT:
            return None
        content["files"] = tuple(_file(*entry) for entry in content["files"])
        return _checked(TrialRecord(**content))
    except FileNotFoundError:
        return None
    except WRONG_CONTENT as error:
        message = "the record %s cannot be used (%s): the set is tested again"
        logger("kernels").warning(message, path, error)
        return None


def _file(path: str, size: int, time: int, digest: str) -> File:
    return File(str(path), int(size), int(time), str(digest))


def _checked(record: TrialRecord) -> TrialRecord:
    """Return a record after checking that its values have the right types."""
    kinds = {name: type(value) for name, value in vars(_BLANK).items()}
    wrong = [name for name, kind in kinds.items() if not _is(record, name, kind)]
    float(record.seconds)  # raises if an integer is too large
    if wrong or not all(isinstance(x, str) for x in record.wrong.values()):
        raise ValueError(f"{', '.join(wrong) or 'wrong'} cannot be used")
    return record


def _is(record: TrialRecord, name: str, kind: type) -> bool:
    value = getattr(record, name)
    return isinstance(value, (int, float) if kind is float else kind)


#: A record whose values have the right types.
_BLANK = TrialRecord("", "", "")


def keep(path: Path, record: TrialRecord) -> None:
    """Store a record, in the cache if that can be written."""
    _kept[path] = record
    content: dict[str, Any] = {"format": FORMAT, **asdict(record)}
    try:
        write_json(path, content)
    except OSError as error:
        logger("kernels").warning(
            "the self-test of %s cannot be recorded (%s) and runs in each process; "
            "let AUTOCALC_CACHE_DIR name a folder that can be written to",
            record.set,
            error,
        )


def all_records() -> Iterator[tuple[Path, TrialRecord]]:
    """Yield every readable record of this machine, with its file."""
    found = dict.fromkeys(_kept)
    if folder().is_dir():
        found.update(dict.fromkeys(sorted(folder().glob("*.json"))))
    for path in found:
        record = _kept.get(path) or _read(path)
        if record is not None:
            yield path, record


def forget(name: str) -> int:
    """Delete the records of the sets with this name; return how many there were."""
    paths = [path for path, record in all_records() if record.set == name]
    for path in paths:
        path.unlink(missing_ok=True)
        _kept.pop(path, None)
    return len(paths)
