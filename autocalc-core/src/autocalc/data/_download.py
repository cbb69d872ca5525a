# SPDX-License-Identifier: MIT
"""Downloads whose files appear only after a check of their SHA-256.

A file is written under a temporary name and compared with its known SHA-256.  Only then
it gets its final name.  If a mirror fails, the next one is tried.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autocalc._config import cache_folder, settings
from autocalc.errors import DataError

_CHUNK = 1 << 18
_TIMEOUT_SECONDS = 30.0

#: A function that is called with a file's name, the bytes received, and its size.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class RemoteFile:
    """A published file: its name, its size in bytes, and its SHA-256."""

    name: str
    size: int
    sha256: str


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    import hashlib  # takes 6 ms to import

    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def folders_of(name: str) -> list[Path]:
    """Return the folders to search for data set `name`; a download goes to the first.

    The folders are ``AUTOCALC_DATA_DIR``, if it is set, and the user's cache folder.
    """
    places = [settings().data_dir, cache_folder() / "data"]
    return [place / name for place in places if place is not None]


def show_progress(name: str, done: int, total: int) -> None:
    """Show the progress on one line of a terminal; print nothing to a file or pipe."""
    if not sys.stderr.isatty():
        return
    end = "\n" if done == total else ""
    sys.stderr.write(f"\r{name}: {done / 1e6:.1f} of {total / 1e6:.1f} MB{end}")
    sys.stderr.flush()


def download(
    file: RemoteFile,
    mirrors: Sequence[str],
    folder: Path,
    progress: Progress | None = show_progress,
) -> Path:
    """Download `file` to `folder` from the first mirror that works; return its path."""
    failures: list[str] = []
    for mirror in mirrors:
        url = mirror.rstrip("/") + "/" + file.name
        try:
            return _download_from(url, file, folder, progress)
        except _FAILURES as error:
            failures.append(f"{url}: {error}")
    raise DataError(
        f"download: {file.name} could not be downloaded. Tried: {'; '.join(failures)}. "
        f"Check the connection, or put the file into {folder} yourself."
    )


#: The error numbers of a full disk, a quota, a size limit and a read-only disk.
_OF_DISKS = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS")
    if hasattr(errno, name)
}


class _WrongContentError(Exception):
    """The downloaded file is not the published one."""


# URLError, timeouts and refused connections are OSError; HTTPException is raised if a
# server breaks off or does not speak HTTP, and is defined in http.client.
_FAILURES: tuple[type[Exception], ...] = (OSError, ValueError, _WrongContentError)


def _download_from(
    url: str, file: RemoteFile, folder: Path, progress: Progress | None
) -> Path:
    target = folder / file.name
    part = _make_part(target)
    try:
        _check_room(file, folder)
        _receive(url, file, part, progress)
        part.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        if error.errno in _OF_DISKS:  # no other mirror would help
            raise _no_room(file, folder, str(error.strerror)) from error
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    return target


def _check_room(file: RemoteFile, folder: Path) -> None:
    """Raise before a long download if the file does not fit on the disk."""
    import shutil

    free = shutil.disk_usage(folder).free
    if free < file.size:
        raise _no_room(file, folder, f"{free / 1e6:,.1f} MB are free")


def _no_room(file: RemoteFile, folder: Path, why: str) -> DataError:
    return DataError(
        f"download: there is not enough space in {folder} for {file.name} of "
        f"{file.size / 1e6:,.1f} MB ({why}). Free some space there, or pass `root=` or "
        "set AUTOCALC_DATA_DIR to a folder on another disk."
    )


def _make_part(target: Path) -> Path:
    """Make a temporary file next to `target`; an error here ends the download."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise DataError(
            f"download: cannot write into {target.parent} ({error.strerror}); pass a "
            "writable folder as `root=`, or set AUTOCALC_DATA_DIR to one."
        ) from error
    return part


def _receive(url: str, file: RemoteFile, part: Path, progress: Progress | None) -> None:
    import hashlib
    from http.client import HTTPException  # takes 20 ms to import
    from urllib.request import urlopen

    digest, done = hashlib.sha256(), 0
    try:
        with urlopen(url, timeout=_TIMEOUT_SECONDS) as reply, part.open("wb") as out:
            while done <= file.size and (chunk := reply.read(_CHUNK)):
                out.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                if progress is not None:
                    progress(file.name, min(done, file.size), file.size)
            out.flush()
            os.fsync(out.fileno())
    except HTTPException as error:
        raise _WrongContentError(repr(error)) from error
    _check(file, done, digest.hexdigest())


def _check(file: RemoteFile, size: int, sha256: str) -> None:
    if size < file.size:
        message = f"only {size} of {file.size} bytes were received"
    elif size > file.size:
        message = (
            f"the download is larger than the {file.size} bytes of the published file"
        )
    elif sha256 != file.sha256:
        message = (
            f"its SHA-256 is {sha256}, but that of the published file is {file.sha256}"
        )
    else:
        return
    raise _WrongContentError(message)
