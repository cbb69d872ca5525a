# SPDX-License-Identifier: MIT
"""Compiling what is measured beside the kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


def compiled(sources: Sequence[Path], program: str, flags: Sequence[str]) -> bool:
    """Compile `sources` into `program`; answer whether there is a compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return False
    command = [compiler, "-std=c++17", "-O3", *flags, *map(str, sources)]
    subprocess.run([*command, "-o", program], check=True)
    return True
