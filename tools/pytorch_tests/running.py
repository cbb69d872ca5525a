# SPDX-License-Identifier: MIT
"""Runs a file of tests in a process; restarts after a test that ends the process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: The time limit of a file in seconds, and the number of restarts after tests that end
#: the process.
SECONDS, TIMES = 3600, 6


@dataclass(frozen=True)
class Job:
    """A file of tests, the library that it runs under, and the outcomes file."""

    file: str
    under: str
    outcomes: Path
    seconds: int


class Interpreter:
    """The interpreter that has PyTorch, and the folder of PyTorch's files."""

    def __init__(self, python: str) -> None:
        self.python = python
        find = "import importlib.util as u; print(u.find_spec('torch').origin)"
        done = subprocess.run(
            [python, "-c", find], capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{python} has no PyTorch; name one that has it with --pytorch")
        self.folder = Path(done.stdout.strip()).parents[1]


def run(job: Job, folder: Path, with_torch: Interpreter) -> None:
    """Run a file until each of its tests has an outcome."""
    job.outcomes.parent.mkdir(parents=True, exist_ok=True)
    python = sys.executable if job.under == "autocalc" else with_torch.python
    plugins = ["-p", "autocalc.torch.pytest"] if job.under == "autocalc" else []
    command = [
        python,
        "-m",
        "pytest",
        *plugins,
        "-p",
        "tools.pytorch_tests.plugin",
        "-q",
    ]
    command += ["--noconftest", "--continue-on-collection-errors"]
    command += ["-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider"]
    print(job.under, job.file, flush=True)
    for _ in range(TIMES):
        done = subprocess.run(
            [*command, "--tb=no", job.file],
            cwd=folder,
            env=environment(job, with_torch),
            check=False,
            timeout=SECONDS,
            capture_output=True,
            text=True,
        )
        if done.returncode in (0, 1, 5):  # all passed, some failed, none left
            return
        if not job.outcomes.exists():
            sys.exit(f"{job.file} was not imported:\n{done.stdout[-3000:]}")


def environment(job: Job, with_torch: Interpreter) -> dict[str, str]:
    """Return the environment of a test process."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path),
        "OMP_NUM_THREADS": "1",
        "PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu",
        "PYTORCH_TESTS_UNDER": job.under,
        "PYTORCH_TESTS_OUTCOMES": str(job.outcomes),
        "PYTORCH_TESTS_SECONDS": str(job.seconds),
        "PYTORCH_TESTS_FILES": str(with_torch.folder),
    }
