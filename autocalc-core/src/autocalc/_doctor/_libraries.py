# SPDX-License-Identifier: MIT
"""OpenMP and BLAS libraries in this process, and their conflicts.

They are read from ``/proc/self/maps``: what is mapped is there, however it was loaded.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from autocalc._config import of_library
from autocalc._dispatch.machine.cpu import detected_features
from autocalc._dispatch.plugins.discovery import registry
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine

_OPENMP = re.compile(r"lib(gomp|omp|iomp5|kmp)\b")
_BLAS = re.compile(r"lib(scipy_openblas|openblas|mkl_rt|mkl_core|blis|flexiblas|atlas)")

#: Parts and builds of one library.
_MAKERS = {"scipy_openblas": "openblas", "mkl_rt": "mkl", "mkl_core": "mkl"}

#: Core types by what they use of a CPU, the best first: libraries' own names.
_BY_FEATURE = (
    ("avx512f", ("skylakex", "cooperlake", "sapphirerapids", "zen4", "zen5", "skx",
                 "knl", "avx512")),
    ("avx2", ("haswell", "zen", "zen2", "zen3", "excavator", "avx2")),
)  # fmt: skip

#: How builds of OpenBLAS spell a function.
_SPELLINGS = ("{}", "{}64_", "{}_64", "scipy_{}", "scipy_{}64_")


def load_all() -> None:
    """Load every kernel set, so that its libraries are mapped."""
    for name in registry().sets:
        registry().kernels(name)


def mapped(maps: str) -> list[str]:
    """Return the files of a text such as ``/proc/self/maps``, each once."""
    files: dict[str, None] = {}
    for line in maps.splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5].startswith("/"):
            files[words[5]] = None
    return list(files)


def _matching(files: Iterable[str], pattern: re.Pattern[str]) -> dict[str, str]:
    """Return the files whose names match, with what matched."""
    found = {}
    for file in files:
        match = pattern.match(PurePosixPath(file).name)
        if match:
            found[file] = match[1]
    return found


def openmp(machine: Machine) -> Iterator[Finding]:
    """Look for two OpenMP runtimes, whose threads know nothing of each other."""
    maps = machine.read("proc/self/maps")
    if maps is None:
        yield Finding(
            "note", "OpenMP", "the system does not list a process's libraries"
        )
        return
    load_all()
    found = _matching(mapped(machine.read("proc/self/maps") or maps), _OPENMP)
    if not found:
        yield Finding("ok", "OpenMP", "no runtime in this process")
    elif len(found) == 1:
        yield Finding("ok", "OpenMP", f"one runtime: {next(iter(found))}")
    else:
        yield Finding(
            "warning",
            "OpenMP",
            f"{len(found)} runtimes in one process: {', '.join(found)}. Each has "
            f"threads of its own for every core, and some builds abort",
            "Install packages from one source (all from conda-forge, or all wheels), "
            "or keep the other library out of the process that trains.",
        )


def blas(machine: Machine) -> Iterator[Finding]:
    """Name the BLAS libraries in the process and their core types."""
    maps = machine.read("proc/self/maps")
    if maps is None:
        yield Finding("note", "BLAS", "the system does not list a process's libraries")
        return
    load_all()
    found = _matching(mapped(machine.read("proc/self/maps") or maps), _BLAS)
    if not found:
        yield Finding("ok", "BLAS", "no library in this process")
    for file, kind in found.items():
        core = core_type(file) if "openblas" in kind else ""
        yield from _core(file, core)
    makers = sorted({_MAKERS.get(kind, kind) for kind in found.values()})
    if len(makers) > 1:
        yield Finding(
            "note",
            "BLAS",
            f"{len(makers)} different libraries in one process: {', '.join(makers)}; "
            f"each has threads of its own",
            "Choose one with AUTOCALC_DISABLE_KERNELS, and keep imports of others out.",
        )


def _core(file: str, core: str) -> Iterator[Finding]:
    """Compare a library's core type with what the CPU can do."""
    if not core:
        yield Finding("ok", "BLAS", file)
        return
    better = missed(core, detected_features())
    if better:
        yield Finding(
            "warning",
            "BLAS",
            f"{file} runs its {core} kernels, which leave {better} unused",
            _core_remedy(),
        )
    else:
        yield Finding("ok", "BLAS", f"{file} runs its {core} kernels")


def _core_remedy() -> str:
    name = "OPENBLAS_CORETYPE"
    given = of_library(name)
    if given:
        return f"The environment sets {name}={given}: unset it."
    return (
        f"Set {name}=SKYLAKEX (for AVX-512) or HASWELL (for AVX2) in the environment "
        f"before the program starts."
    )


def missed(core: str, features: Iterable[str]) -> str:
    """Return the best feature of a CPU that a core type does not use; "" if none."""
    known = set(features)
    for feature, cores in _BY_FEATURE:
        if core.lower() in cores:
            return ""
        if feature in known:
            return feature
    return ""


def core_type(file: str) -> str:
    """Return which kernels an OpenBLAS runs, by its own word; "" if it says nothing."""
    try:
        library = ctypes.CDLL(file)  # mapped already, so nothing is loaded
    except OSError:
        return ""
    for spelling in _SPELLINGS:
        function = getattr(library, spelling.format("openblas_get_corename"), None)
        if function is not None:
            function.restype = ctypes.c_char_p
            return str((function() or b"").decode("ascii", "replace"))
    return ""
