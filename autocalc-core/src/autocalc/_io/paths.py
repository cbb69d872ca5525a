# SPDX-License-Identifier: MIT
"""Checkpoint files given by a path: a file is replaced in one step or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from autocalc._io import digest
from autocalc._io.dtypes import read_tensor
from autocalc._io.tree import Array
from autocalc.errors import CheckpointError, MissingFileError

if TYPE_CHECKING:
    from pathlib import Path


class PathFile:
    """A file that is given by a path."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from pathlib import Path  # late: 5 ms of `import autocalc`

        self._path = Path(path)

    def __str__(self) -> str:
        return str(self._path)

    @property
    def size(self) -> int:
        """The number of bytes of the file."""
        return self._path.stat().st_size

    def check(self) -> None:
        """Raise unless there is a file to load."""
        path = self._path
        if not path.is_file():
            folder = path.is_dir()
            message = f"load: {path} {'is a folder' if folder else 'does not exist'}."
            raise (CheckpointError if folder else MissingFileError)(message)

    def head(self) -> bytes:
        """Return the first bytes."""
        with self.opened() as file:
            return file.read(16)

    def opened(self) -> IO[bytes]:
        """Return the file, opened for reading."""
        return self._path.open("rb")

    def digests(self) -> digest.Digests | None:
        """Return the digest that the file holds, and the computed one."""
        with self._path.open("rb", buffering=0) as file:
            return digest.digests(file)

    def read(self) -> tuple[dict[str, Array], dict[str, str]]:
        """Return the arrays and the metadata of the file."""
        from safetensors import safe_open

        with safe_open(self._path, framework="np") as file:
            arrays = {name: _copy(file, name, str(self)) for name in file.keys()}  # noqa: SIM118
            return arrays, file.metadata() or {}

    def write(self, arrays: Mapping[str, Array], metadata: dict[str, str]) -> None:
        """Replace the file once all data is on the disk."""
        replace_file(self._path, lambda part: _write_part(arrays, metadata, part))


def replace_file(path: Path, write: Callable[[Path], None]) -> None:
    """Replace a file by one that `write` has written, once that is on the disk."""
    target = path.resolve()  # follows a symbolic link
    part = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        write(part)
        part.replace(target)
        _sync_folder(target.parent)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _write_part(
    arrays: Mapping[str, Array], metadata: dict[str, str], part: Path
) -> None:
    from safetensors import SafetensorError  # 10 ms of import
    from safetensors.numpy import save_file

    with part.open("xb"):  # raises if the folder is missing
        mode = part.stat().st_mode
    try:
        save_file(dict(arrays), part, metadata=metadata)
    except SafetensorError as error:
        raise OSError(str(error)) from error
    part.chmod(mode)  # the library makes files that only their owner can read
    with part.open("rb+", buffering=0) as file:
        digest.seal(file)
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Write the new file name to the disk, if the system can open folders."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy(file: Any, name: str, place: str) -> Array:
    dtype = file.get_slice(name).get_dtype()
    return read_tensor(
        place, name, dtype, lambda: np.array(file.get_tensor(name), order="C")
    )
