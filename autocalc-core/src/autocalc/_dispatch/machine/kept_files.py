# SPDX-License-Identifier: MIT
"""Small JSON files in the cache: checked before reading, written in one step.

These files decide which kernels run.  A file is used only if it is a regular file of
moderate size, and only its owner (this user or the administrator) can write to it.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

#: No record is larger than this; most have a few kilobytes.
MOST_BYTES = 16 << 20

#: The permission bits by which the group and all others may write.
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
#: Only the owner may write to files that are made here, independent of the umask.
_MODE = 0o644


#: The errors that wrong values in a file cause when they are read.
WRONG_CONTENT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class UnusableFileError(ValueError):
    """A file that cannot be used; the text says why and what to do."""


def read_json(path: Path) -> Any:
    """Return the content of a JSON file in the cache.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    UnusableFileError
        If the file cannot be used.
    """
    try:
        return json.loads(_bytes(path).decode("utf-8"))
    except (FileNotFoundError, UnusableFileError):
        raise
    except RecursionError:
        reason = "it is nested too deeply"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise UnusableFileError(f"it cannot be read ({reason})")


def _bytes(path: Path) -> bytes:
    # Open without waiting, because opening a pipe waits. An open file cannot be
    # replaced.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    try:
        reason = _objection(os.fstat(handle))
        if reason:
            raise UnusableFileError(reason)
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(MOST_BYTES + 1)
    finally:
        os.close(handle)


def _objection(state: os.stat_result) -> str:
    """Return why a file cannot be used; "" if it can."""
    if not stat.S_ISREG(state.st_mode):
        return f"it is not a file but a {_kind(state.st_mode)}; remove it"
    if state.st_size > MOST_BYTES:
        return f"it has {state.st_size} bytes, more than {MOST_BYTES}; remove it"
    if not hasattr(os, "geteuid"):  # Windows has other rights
        return ""
    if state.st_uid not in (os.geteuid(), 0):
        return f"it belongs to another user (number {state.st_uid}); remove it"
    if state.st_mode & _OTHERS:
        rights = stat.filemode(state.st_mode)
        return f"other users can write to it ({rights}); `chmod go-w` it, or remove it"
    return ""


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "pipe",
        stat.S_IFSOCK: "socket",
        stat.S_IFCHR: "device",
        stat.S_IFBLK: "device",
        stat.S_IFDIR: "folder",
    }
    return kinds.get(stat.S_IFMT(mode), "special file")


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file in one step: either the old or the new content exists.

    Raises
    ------
    OSError
        If the folder cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=1) + "\n")
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
