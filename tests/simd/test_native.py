# SPDX-License-Identifier: MIT
"""The native tests (ctest/): pool, allocator, vector types; plain and sanitized."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "autocalc-kernels-simd" / "ctest"

pytestmark = pytest.mark.slow


def run(*command, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("sanitizer", ["", "thread", "address,undefined"])
def test_native(tmp_path, sanitizer):
    cmake = shutil.which("cmake")
    if cmake is None or shutil.which("c++") is None:
        pytest.skip("cmake and a C++ compiler build these tests")
    run(
        cmake,
        *("-S", SOURCES, "-B", tmp_path, "-DCMAKE_BUILD_TYPE=RelWithDebInfo"),
        f"-DAUTOCALC_SANITIZE={sanitizer}",
    )
    # The vector tests, which touch no memory of their own, need no sanitizer.
    target = ["--target", "runtime_tests"] if sanitizer else []
    run(cmake, "--build", tmp_path, "--parallel", "2", *target)
    # The child of a fork makes threads of its own, which the sanitizer warns about.
    options = {"TSAN_OPTIONS": "die_after_fork=0"}
    assert "0 failed checks" in run(tmp_path / "runtime_tests", **options)
    for program in sorted(tmp_path.glob("vector_tests_*")):
        assert "0 failed checks" in (out := run(program)) or "skipped" in out
