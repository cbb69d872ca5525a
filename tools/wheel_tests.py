# SPDX-License-Identifier: MIT
"""Test the packages that are installed in this environment, as a user has them.

    python tools/wheel_tests.py [pytest's options]

Nothing is taken from the checkout but the tests.  They are a selection of a few
minutes: what the core does alone and every installed kernel package brings.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("autocalc", "autocalc_kernels_simd", "autocalc_kernels_blas")
#: Tests of the whole core but those that take long or read the repository's own files.
SELECTION = ("tests/core", "tests/simd/test_libraries.py", "tests/blas/test_plugin.py")


def installed() -> list[str]:
    """Return which packages are here; end the program if one is the checkout's."""
    found = []
    for name in MODULES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        if not Path(spec.origin).resolve().is_relative_to(Path(sys.prefix).resolve()):
            sys.exit(f"{name} is not installed in {sys.prefix}: it is {spec.origin}")
        found.append(name)
    if "autocalc" not in found:
        sys.exit(f"autocalc-core is not installed in {sys.prefix}")
    return found


def main() -> int:
    """Run the tests; return pytest's exit status."""
    print(f"testing {', '.join(installed())} in {sys.prefix}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow and not long"]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *SELECTION, *sys.argv[1:]],
        cwd=ROOT,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
