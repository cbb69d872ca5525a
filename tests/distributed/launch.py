# SPDX-License-Identifier: MIT
"""Starting programs on several ranks with the mpirun of this environment."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

import autocalc

PROGRAMS = Path(__file__).parent / "programs"

#: Seconds after which a program that hangs is ended.
LIMIT = 60


@functools.lru_cache(maxsize=1)
def mpirun():
    """Return the launcher next to this Python, or on the path, as words; or None."""
    beside = Path(sys.executable).with_name("mpirun")
    path = str(beside) if beside.exists() else shutil.which("mpirun")
    if path is None or find_spec("mpi4py") is None:
        return None
    text = subprocess.run(
        [path, "--version"], capture_output=True, text=True, check=True
    ).stdout
    if "Open MPI" in text:
        # More ranks than cores, and root in a container, are what tests have.
        return [path, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    return [path]


needs_mpi = pytest.mark.skipif(
    mpirun() is None, reason="needs mpi4py and mpirun: make test-mpi"
)


class Result(NamedTuple):
    """How a program ended on all ranks."""

    code: int
    out: str
    err: str

    def values(self):
        """Return the values that ranks sent with `programs.tell`, by rank."""
        lines = [line for line in self.out.splitlines() if line.startswith("VALUE ")]
        told = [json.loads(line[6:]) for line in lines]
        return dict(sorted((rank, value) for rank, value in told))


def environment(**more):
    """Return the variables of a rank: one thread, these sources."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("AUTOCALC_")}
    source = Path(autocalc.__file__).parents[1]
    paths = [str(source), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {
        **kept,
        "AUTOCALC_NUM_THREADS": "1",
        "AUTOCALC_TUNE": "off",
        "PYTHONPATH": os.pathsep.join(p for p in paths if p),
        "OMP_NUM_THREADS": "1",
        **more,
    }


def command(n, program, *args):
    """Return the words that run a program on `n` ranks."""
    words = mpirun()
    assert words is not None
    own = [sys.executable, str(PROGRAMS / program), *map(str, args)]
    return [*words, "-n", str(n), *own]


def start(n, program, *args, **variables):
    """Start a program on `n` ranks, in a process group of its own."""
    return subprocess.Popen(
        command(n, program, *args),
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process, limit=LIMIT):
    """Wait for a program; one that hangs is ended, and that is an error."""
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate()
        pytest.fail(f"the ranks hung for {limit} s\n{out}\n{err}")
    return Result(process.returncode, out, err)


def run(n, program, *args, limit=LIMIT, **variables):
    """Run a program on `n` ranks to its end."""
    return finish(start(n, program, *args, **variables), limit)


def run_well(n, program, *args, **variables):
    """Run a program that must succeed; return what the ranks sent."""
    result = run(n, program, *args, **variables)
    assert result.code == 0, f"{result.out}\n{result.err}"
    return result.values()
