# SPDX-License-Identifier: MIT
"""The files that contain a kernel set's code, and their SHA-256 digests."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

from autocalc._kernels.kernel_set import KernelSet

#: The suffixes of files with machine code.
_NATIVE = {".so", ".pyd", ".dll", ".dylib"}

#: The number of bytes that are read from a file at a time.
_CHUNK = 1 << 20


def files_of(kernel_set: KernelSet) -> dict[str, str]:
    """Return the parts of a set's code: a name and a SHA-256 digest for each.

    All Python files of the package are one part.  Each file of machine code is a part
    of its own, including a library that the set declares.
    """
    place = _place(kernel_set.load)
    if place is None:
        return {}
    result = {}
    native = sorted(file for file in _files(place) if _is_native(file))
    python = sorted(file for file in _files(place) if file.suffix == ".py")
    if python:
        names = [str(file.relative_to(place.parent)) for file in python]
        result[f"{place.name} (Python)"] = _sum(
            [f"{n}={_hash(f)}" for n, f in zip(names, python, strict=True)]
        )
    result.update({str(f.relative_to(place.parent)): _hash(f) for f in native})
    library = _library(kernel_set)
    if library is not None and library not in native:
        result[library.name] = _hash(library)
    return result


def _place(load: Any) -> Path | None:
    """Return the folder of the package that contains a function, or its only file."""
    while True:
        inner = getattr(load, "func", None) or getattr(load, "__func__", None)
        if inner is None:
            break
        load = inner
    module = sys.modules.get(getattr(load, "__module__", ""))
    file = getattr(module, "__file__", None)
    if file is None:
        return None
    path = Path(file).resolve()
    return path.parent if getattr(module, "__package__", "") else path


def _files(place: Path) -> list[Path]:
    return [p for p in place.rglob("*") if p.is_file()] if place.is_dir() else [place]


def _is_native(file: Path) -> bool:
    return file.suffix in _NATIVE or ".so." in file.name


def _library(kernel_set: KernelSet) -> Path | None:
    """Return the file of the library that a set declares."""
    if kernel_set.info is None:
        return None
    try:
        path = Path(dict(kernel_set.info()).get("library", ""))
    except Exception:  # an error of the package, which `explain` reports
        return None
    return path.resolve() if path.is_absolute() and path.is_file() else None


def _hash(file: Path) -> str:
    state = file.stat()
    return _hash_of(str(file), state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=1024)
def _hash_of(path: str, _changed: int, _size: int) -> str:
    """Return a file's SHA-256 digest; an unchanged file is read only once."""
    import hashlib

    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def _sum(parts: list[str]) -> str:
    import hashlib

    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
