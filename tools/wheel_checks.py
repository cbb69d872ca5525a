# SPDX-License-Identifier: MIT
"""Check the files of a release.

``python tools/wheel_checks.py dist/*`` prints what is wrong with them.
"""

from __future__ import annotations

import email
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

#: No wheel may be larger, because an installation should take seconds.
MAX_BYTES = {"autocalc_core": 2_500_000, "autocalc_kernels_simd": 5_500_000}
OTHERS = 1_000_000

#: Maps the end of a platform tag to the instruction sets that its wheels contain. AMX
#: needs a permission of the system, which only Linux grants.
INSTRUCTION_SETS = {
    ("linux", "x86_64"): {"sse2", "avx2", "avx512", "avx512_bf16", "amx"},
    ("macosx", "x86_64"): {"sse2", "avx2", "avx512", "avx512_bf16"},
    ("linux", "aarch64"): {"neon"},
    ("macosx", "arm64"): {"neon"},
}

#: The files from which the SIMD package is compiled.
COMPILED = ("CMakeLists.txt", "cmake", "csrc", "include", "src")


def faults(path: Path) -> list[str]:
    """Return the faults of an sdist or a wheel, one sentence each."""
    found = _wheel_faults(path) if path.suffix == ".whl" else _sdist_faults(path)
    return [f"{path.name}: {fault}" for fault in found]


def _wheel_faults(path: Path) -> Iterator[str]:
    size = path.stat().st_size
    most = MAX_BYTES.get(path.name.partition("-")[0], OTHERS)
    if size > most:
        yield f"{size:,} bytes are more than {most:,}"
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        metadata = [name for name in names if name.endswith(".dist-info/METADATA")]
        text = email.message_from_bytes(wheel.read(metadata[0])).get_payload()
    if not str(text).strip():
        yield "the README is missing from its metadata"
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        yield "the licence is missing"
    engine = any(name.startswith("autocalc/_native.") for name in names)
    if path.name.startswith("autocalc_core-") and engine == is_pure(path.name):
        yield (
            "it is for any platform, but holds an engine"
            if engine
            else ("it is for one platform, but holds no engine")
        )
    if path.name.startswith("autocalc_kernels_simd-"):
        lacking = instruction_sets(path.name) - _libraries(names)
        if lacking:
            yield f"kernels are missing for {', '.join(sorted(lacking))}"


def is_pure(wheel: str) -> bool:
    """Return whether a wheel with this name is for every platform."""
    return wheel.endswith("-none-any.whl")


def instruction_sets(wheel: str) -> set[str]:
    """Return the instruction sets that a wheel with this name must contain."""
    platform = wheel.removesuffix(".whl").rpartition("-")[2]
    for (system, machine), found in INSTRUCTION_SETS.items():
        if system in platform and platform.endswith(machine):
            return found
    raise ValueError(f"{wheel}: no instruction sets are known for {platform}")


def _libraries(names: list[str]) -> set[str]:
    files = [name.rpartition("/")[2] for name in names]
    return {
        name.removeprefix("kernels_").removesuffix(".so")
        for name in files
        if name.startswith("kernels_") and name.endswith(".so")
    }


def _sdist_faults(path: Path) -> Iterator[str]:
    held = _members(path)
    for name in ("PKG-INFO", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"):
        if name not in held:
            yield f"{name} is missing"


def differences(sdist: Path, package: Path) -> list[str]:
    """Return which of the files that the package is compiled from the sdist lacks."""
    held = _members(sdist)
    found = []
    for file in _compiled_files(package):
        name = file.relative_to(package).as_posix()
        if name not in held:
            found.append(f"{sdist.name}: {name} is missing")
        elif held[name] != file.read_bytes():
            found.append(f"{sdist.name}: {name} is not the checkout's")
    return found


def _compiled_files(package: Path) -> Iterator[Path]:
    for name in COMPILED:
        path = package / name
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (f for f in files if f.is_file() and "__pycache__" not in f.parts)


def _members(sdist: Path) -> dict[str, bytes]:
    """Return the plain files of an sdist, by their path inside its one folder."""
    with tarfile.open(sdist) as archive:
        return {
            member.name.partition("/")[2]: archive.extractfile(member).read()  # type: ignore[union-attr]  # of a file
            for member in archive
            if member.isfile()
        }


if __name__ == "__main__":
    given = [Path(name) for name in sys.argv[1:]]
    sys.exit("\n".join(fault for path in given for fault in faults(path)) or None)
