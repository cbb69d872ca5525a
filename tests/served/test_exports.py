# SPDX-License-Identifier: MIT
"""The library exports one function and leaks nothing, as those of wheels do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "autocalc-kernels-simd" / "tools"


def test_one_function_is_exported_and_nothing_is_weak(library, isa):
    objects = sorted(library.parent.glob(f"CMakeFiles/autocalc_{isa}.dir/**/*.o"))
    assert len(objects) > 10
    done = subprocess.run(
        [sys.executable, str(TOOLS / "exports.py"), str(library), *map(str, objects)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
