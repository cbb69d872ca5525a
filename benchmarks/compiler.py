# SPDX-License-Identifier: MIT
"""Compiling what is measured in addition to the kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

#: Keeps jumps off the ends of 32-byte blocks, as the packages' builds do: on Intel's
#: Skylake to Cascade Lake such a jump slows the loop around it, which halves a peak.
AWAY_FROM_BLOCKS = (
    "-mbranches-within-32B-boundaries",
    "-Wa,-mbranches-within-32B-boundaries",
)


def known_flags(flags: Sequence[str]) -> list[str]:
    """Return the first of `flags` that the compiler knows, if it knows any."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    for flag in flags if compiler is not None else ():
        command = [compiler, flag, "-x", "c++", "-c", os.devnull, "-o", os.devnull]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return [flag]
    return []


def compiled(sources: Sequence[Path], program: str, flags: Sequence[str]) -> bool:
    """Compile `sources` into `program`; answer whether there is a compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return False
    command = [compiler, "-std=c++17", "-O3", *flags, *map(str, sources)]
    subprocess.run([*command, "-o", program], check=True)
    return True
