# SPDX-License-Identifier: MIT
"""Check whether a folder is writable and has space, before hours of work."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

import click

#: The size in bytes of the test file: small, and what a disk allocates at once.
_LEAST = 4096


def objection(folder: Path, nbytes: int = _LEAST) -> str:
    """Return why a file of this many bytes cannot be written to a folder, or "".

    The function writes a small file there and removes it.  Permissions alone do not
    show quotas, full disks and read-only file systems.
    """
    probe = folder / f".autocalc.{os.getpid()}.probe"
    try:
        with probe.open("xb") as file:
            file.write(bytes(_LEAST))
            file.flush()
            os.fsync(file.fileno())
            if nbytes > _LEAST:
                file.truncate(nbytes)  # a limit on file sizes shows here
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
        return  # a folder with its own files, or a device
    why = objection(path.absolute().parent, nbytes)
    if why:
        message = f"{why}. Free some space there, or name a file in another folder."
        raise click.BadParameter(message, param_hint=option)


def _mb(nbytes: int) -> str:
    return f"{nbytes / 1e6:,.1f} MB"
