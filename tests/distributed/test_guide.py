# SPDX-License-Identifier: MIT
"""The script of the guide: before its three lines change, and after."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.distributed.launch import LIMIT, environment, mpirun, needs_mpi

PAGE = Path(__file__).parents[2] / "docs/howto/train-on-several-machines.md"


def script(sign):
    """Return one side of the changes."""
    text = PAGE.read_text(encoding="utf-8")
    lines = re.search(r"^```diff\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    split = lines.splitlines(keepends=True)
    return "".join(line[1:] for line in split if line[0] in {" ", sign, "\n"})


def printed(path, *launcher):
    done = subprocess.run(
        [*launcher, sys.executable, str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("sign", ["-", "+"])
def test_the_script_runs_in_one_process(sign, tmp_path):
    (tmp_path / "train.py").write_text(script(sign))
    assert re.fullmatch(r"9\d% are right\n", printed(tmp_path / "train.py"))


@needs_mpi
@pytest.mark.mpi
def test_the_changed_script_runs_on_ranks(tmp_path):
    (tmp_path / "train.py").write_text(script("+"))
    out = printed(tmp_path / "train.py", *mpirun(), "-n", "2")
    # Lines of two ranks may run into each other.
    first, second = re.findall(r"9\d% are right", out)
    assert first == second
