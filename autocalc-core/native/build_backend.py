# SPDX-License-Identifier: MIT
"""The hooks of scikit-build-core, with editable installations as a plain path.

Its own editable wheel has a finder of modules, which goes before PYTHONPATH and of
which pytest warns.  Here the engine is compiled into the source folder
(`CMakeLists.txt`), and a ``.pth`` file puts that folder on Python's path.
"""

from __future__ import annotations

import base64
import hashlib
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as scikit
from scikit_build_core.build import (
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

FINDER = "_editable_skbc_"
PATH = "autocalc_core.pth"
MODULE = Path(f"src/autocalc/_native{sysconfig.get_config_var('EXT_SUFFIX')}")


def build_editable(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Compile the engine in place; return the name of a wheel that points here."""
    name: str = scikit.build_editable(
        wheel_directory, config_settings, metadata_directory
    )
    unasked = (config_settings or {}).get("wheel.cmake") == "false"
    if name.endswith("-none-any.whl") and not unasked:
        MODULE.unlink(missing_ok=True)  # it did not compile; an older one would fail
    wheel = Path(wheel_directory) / name
    with zipfile.ZipFile(wheel) as archive:
        held = {
            file: archive.read(file)
            for file in archive.namelist()
            if not file.startswith(FINDER)
        }
    held[PATH] = f"{Path.cwd() / 'src'}\n".encode()
    record = next(file for file in held if file.endswith(".dist-info/RECORD"))
    lines = [_line(file, held[file]) for file in held if file != record]
    held[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, contents in held.items():
            archive.writestr(file, contents)
    return name


def _line(file: str, contents: bytes) -> str:
    """Return a wheel's record of a file: its name, digest and size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest())
    return f"{file},sha256={digest.decode().rstrip('=')},{len(contents)}"
