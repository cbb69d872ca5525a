# SPDX-License-Identifier: MIT
"""Whatever happens to one rank, all of them end, and the last checkpoint is whole."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
from tests.distributed.ending import SOON, assert_ended, is_alive, pids_of
from tests.distributed.launch import environment, finish, mpirun, needs_mpi, run, start

import autocalc as ac

pytestmark = [needs_mpi, pytest.mark.mpi]


def test_an_error_ends_all_ranks_and_says_whose_it_was(tmp_path):
    process = start(3, "failing.py", "raise", tmp_path / "x", 600)
    pids_of(process, 3)
    started = time.monotonic()
    result = finish(process)
    assert result.code != 0
    text = "rank 1 of 3 ends all ranks: ValueError: rank one is wrong"
    assert text in result.err
    assert "Traceback" in result.err
    assert time.monotonic() - started < SOON


def test_an_error_in_a_thread_ends_all_ranks(tmp_path):
    result = run(2, "failing.py", "thread", tmp_path / "x", 600)
    assert result.code != 0
    assert "rank 1 of 2 ends all ranks: ValueError: rank one is wrong" in result.err


def test_an_error_that_is_caught_ends_nobody(tmp_path):
    assert run(2, "failing.py", "absorb", tmp_path / "x", 600).code == 0


def test_a_rank_that_leaves_ends_all_ranks(tmp_path):
    process = start(3, "failing.py", "leave", tmp_path / "x", 600)
    pids_of(process, 3)
    started = time.monotonic()
    result = finish(process)
    assert result.code != 0
    assert "waits for rank 1, whose program has ended. All ranks must" in result.err
    assert time.monotonic() - started < SOON + 6


@pytest.mark.parametrize(
    ("how", "text"),
    [
        (
            "shape",
            (
                "Rank 0: all_reduce(`tensor` (3,) float32, SUM); "
                "rank 1: all_reduce(`tensor` (7,) float32, SUM)"
            ),
        ),
        ("other", "rank 1: broadcast(`tensor` (3,) float32, src=0)"),
    ],
)  # fmt: skip
def test_ranks_that_make_different_calls_are_told(tmp_path, how, text):
    result = run(3, "failing.py", how, tmp_path / "x", 60,
                 AUTOCALC_DISTRIBUTED_DEBUG="detail")  # fmt: skip
    assert result.code != 0
    assert ": the ranks have made different calls. Rank" in result.err
    assert text in result.err


def test_sums_of_tensors_of_different_sizes_are_refused(tmp_path):
    """A rank that gets less than it needs says so; with more, MPI says so."""
    result = run(2, "failing.py", "size", tmp_path / "x", 30)
    assert result.code != 0
    text = (
        r"DistributedError: (all_reduce: )?rank \d of 2(: the other ranks have sent "
        r"79996 bytes of their tensors, but 80000 are needed| got an error from MPI: "
        r".*TRUNCATE)"
    )
    assert re.search(text, result.err, re.IGNORECASE), result.err


def kill_at_random(seed, tmp_path):
    draw = random.Random(seed)
    path = tmp_path / f"{seed}.safetensors"
    process = start(3, "failing.py", "never", path, 600)
    pids = pids_of(process, 3)
    time.sleep(draw.uniform(0, 0.5))
    rank = draw.randrange(3)
    killed = time.monotonic()
    os.kill(pids[rank], signal.SIGKILL)
    result = finish(process)
    assert result.code != 0
    assert time.monotonic() - killed < SOON
    assert_ended(pids)
    saved = ac.load(path)
    assert saved["step"] >= 2
    assert all(x.isfinite().all() for x in saved["model"].values())


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_rank_ends_all_and_damages_no_checkpoint(seed, tmp_path):
    kill_at_random(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 20))
def test_more_killed_ranks(seed, tmp_path):
    kill_at_random(seed, tmp_path)


def test_a_stopped_rank_ends_all_after_the_timeout(tmp_path):
    process = start(3, "failing.py", "never", tmp_path / "x", 3)
    pids = pids_of(process, 3)
    stopped = time.monotonic()
    os.kill(pids[2], signal.SIGSTOP)
    try:
        result = finish(process)
        assert_ended(pids)
    finally:
        for pid in pids.values():
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
    assert result.code != 0
    assert re.search(
        r"rank \d of 3 has waited 3 s\. Rank \d waits as well, in \w+; rank 2 does not "
        r"answer\. It is stopped, cut off, or still computes\. AUTOCALC_",
        result.err,
    ), result.err
    assert time.monotonic() - stopped < 3 + SOON


def test_ranks_that_wait_for_each_other_are_told_where(tmp_path):
    """The time is the environment's; a call that differs is named."""
    result = run(3, "failing.py", "other", tmp_path / "x", 0,
                 AUTOCALC_DISTRIBUTED_TIMEOUT="2")  # fmt: skip
    assert result.code != 0
    texts = re.findall(
        r"DistributedError: \w+: rank \d of 3 has waited 2 s\..*", result.err
    )
    assert texts, result.err
    assert "rank 1 waits as well, in broadcast" in texts[0].lower() or (
        "broadcast: rank 1 of 3" in texts[0]
    )


def test_the_mpirun_of_another_mpi_is_named():
    """Its variables are there, and mpi4py is alone all the same."""
    ours = "Open" if len(mpirun()) > 1 else "MPICH"
    name = "PMI" if ours == "Open" else "OMPI_COMM_WORLD"
    if ours == "Open":
        variables = {"PMI_SIZE": "4", "PMI_RANK": "0"}
    else:
        variables = {f"{name}_SIZE": "4", f"{name}_RANK": "0"}
    code = "import autocalc.distributed as d; d.init_process_group()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "started 4 ranks, and mpi4py sees 1: mpi4py loads " in done.stderr
    assert ours in done.stderr
