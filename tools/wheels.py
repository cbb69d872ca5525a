# SPDX-License-Identifier: MIT
"""Build sdists and wheels of the packages; check, install and test them.

    make test-wheels PYTHON=python3.12

Wheels are built from the sdists in separate environments, by the Python that runs this
program.  They are then installed together into a new environment without a compiler on
its PATH, and `tools/wheel_tests.py` runs there.  Everything is in a temporary folder of
the system, except the results in `dist`.

With ``--reuse`` the SIMD wheel is made in the build folder of the environment that runs
this program, as `make install` left it.  Its sdist is not compiled, but compared with
the checkout.

At the end `tools/first_steps.py` follows the documentation word for word, with the
wheels and no clone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from wheel_checks import differences, faults

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "autocalc-core",
    "autocalc-kernels-simd",
    "autocalc-kernels-blas",
    "autocalc-kernels-cuda",
)
SIMD = "autocalc-kernels-simd"
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++")
QUIET = ("--quiet", "--disable-pip-version-check")


def run(*command: object, **options: object) -> None:
    """Run a command; end the program if it fails."""
    words = [str(word) for word in command]
    status = subprocess.run(words, check=False, **options).returncode  # type: ignore[call-overload]
    if status:
        sys.exit(f"failed with status {status}: {' '.join(words)}")


def environment(folder: Path) -> Path:
    """Make an environment with a new pip; return its Python."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", *QUIET, "--upgrade", "pip>=25.1")
    return python


def build(python: Path, dist: Path, *, reuse: bool) -> None:
    """Build the sdist of each package, and its wheel from that."""
    for package in PACKAGES:
        print(f"building {package}", flush=True)
        command = [python, "-m", "build", "--outdir", dist, ROOT / package]
        if not reuse:
            run(*command, stdout=subprocess.DEVNULL)
            continue
        command.append("--no-isolation")
        if package == SIMD:
            run(*command, "--sdist", stdout=subprocess.DEVNULL)
            run(*command, "--wheel", stdout=subprocess.DEVNULL)
        else:
            run(*command, stdout=subprocess.DEVNULL)


def check(python: Path, dist: Path, *, reuse: bool) -> list[str]:
    """Check what was built, and print sizes; return what is wrong."""
    files = sorted(dist.iterdir())
    found = [fault for file in files for fault in faults(file)]
    if reuse:
        sdist = next(dist.glob("autocalc_kernels_simd-*.tar.gz"))
        found += differences(sdist, ROOT / SIMD)
    for file in files:
        print(f"{file.stat().st_size / 1e6:7.2f} MB  {file.name}")
    run(python, "-m", "twine", "check", "--strict", *files)
    return found


def test(folder: Path, dist: Path, options: list[str]) -> None:
    """Install the wheels where there is no compiler, and run the tests there."""
    python = environment(folder)
    left_out = {"CC", "CXX", "PYTHONPATH"}
    plain = {k: v for k, v in os.environ.items() if k not in left_out}
    plain["PATH"] = str(python.parent)
    present = [name for name in COMPILERS if shutil.which(name, path=plain["PATH"])]
    assert not present, present
    install = [python, "-m", "pip", "install", *QUIET, "--only-binary", ":all:"]
    run(*install, *dist.glob("*.whl"), env=plain)
    run(*install, "--group", "wheel-test", cwd=ROOT, env=plain)
    run(python, ROOT / "tools" / "wheel_tests.py", *options, env=plain)


def main() -> None:
    """Run all of this."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--reuse", action="store_true", help="compile nothing twice")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="results")
    given, options = parser.parse_known_args()
    shutil.rmtree(given.dist, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="autocalc-wheels-") as temporary:
        folder = Path(temporary)
        if given.reuse:
            python = Path(sys.executable)
        else:
            python = environment(folder / "build")
            run(python, "-m", "pip", "install", *QUIET, "--group", "package", cwd=ROOT)
        build(python, given.dist, reuse=given.reuse)
        found = check(python, given.dist, reuse=given.reuse)
        test(folder / "clean", given.dist, options)
        run(sys.executable, ROOT / "tools" / "first_steps.py", given.dist)
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
