# SPDX-License-Identifier: MIT
"""Whether a folder can be written to, and has room, before hours of work."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import click

#: Bytes that are written to find out: a small file, and what a disk gives at once.
_LEAST = 4096


def objection(folder: Path, nbytes: int = _LEAST) -> str:
    """Return why a file of so many bytes cannot be written to a folder, "" if it can.

    A small file is written there, and removed: rights alone say nothing about quotas,
    full disks and file systems that are mounted to be read.
    """
    probe = folder / f".autocalc.{os.getpid()}.probe"
    try:
        with probe.open("xb") as file:
            file.write(bytes(_LEAST))
            file.flush()
            os.fsync(file.fileno())
            if nbytes > _LEAST:
                file.truncate(nbytes)  # a limit on the size of files shows here
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return f"{folder} cannot be written to: {error.strerror or error}"
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
    if free < nbytes:
        return f"{folder} has {_mb(free)} free, and a file of {_mb(nbytes)} is to come"
    return ""


def check_room(option: str, path: Path | None, nbytes: int = _LEAST) -> None:
    """Refuse an option whose file could not be written later."""
    if path is None or (path.exists() and not path.is_file()):
        return  # a folder with files of its own, or a device
    why = objection(path.absolute().parent, nbytes)
    if why:
        message = f"{why}. Free some space there, or name a file in another folder."
        raise click.BadParameter(message, param_hint=option)


def _mb(nbytes: int) -> str:
    return f"{nbytes / 1e6:,.1f} MB"
